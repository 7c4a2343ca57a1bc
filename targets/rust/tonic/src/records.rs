//! The records of `/json/{n}` as messages.

use crate::pb::Record;

const PER_COUNT: i32 = 8;

/// How many records n means, where it is from 1 to 1000.
pub fn count(n: i32) -> Option<i32> {
    (1..=1000).contains(&n).then_some(PER_COUNT * n)
}

/// The record with this id.
pub fn record(id: i32) -> Record {
    let mut tags = ["alpha", "beta", "gamma"];
    tags.rotate_left((id % 3) as usize);
    Record {
        id,
        name: format!("user-{id:06}"),
        email: format!("user-{id:06}@example.com"),
        age: 18 + id * 7 % 50,
        active: id % 2 == 0,
        score: f64::from(id) * 1.5,
        tags: tags.map(str::to_owned).to_vec(),
    }
}
