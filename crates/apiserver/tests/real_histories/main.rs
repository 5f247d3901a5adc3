//! Random histories: several clients, one operation at a time in seeded order, the same on our server and on a real
//! kube-apiserver. Every answer and every watch must be the same.

#![cfg(test)]

mod normal;
mod operation;
mod run;
mod side;
