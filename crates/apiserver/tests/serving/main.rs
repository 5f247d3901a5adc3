//! The server on a port, as clients of every kind meet it: good ones, strangers, slow ones and greedy ones.

#![cfg(test)]

mod bounds;
mod client;
mod crowd;
mod greeting;
mod kube_client;
mod stop;
mod stub;
