//! A queue that takes no memory of its own while it holds one thing: the usual number of requests on a connection.

use std::collections::VecDeque;

/// First in, first out.
#[derive(Debug)]
pub(crate) struct Fifo<T> {
    first: Option<T>,
    #[expect(clippy::box_collection, reason = "most connections have none, and there are many connections")]
    behind: Option<Box<VecDeque<T>>>,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self { first: None, behind: None }
    }
}

impl<T> Fifo<T> {
    #[inline]
    pub(crate) fn push(&mut self, thing: T) {
        if self.first.is_none() {
            self.first = Some(thing);
        } else {
            self.behind.get_or_insert_default().push_back(thing);
        }
    }

    /// Takes the oldest.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let next = self.behind.as_mut().and_then(|behind| behind.pop_front());
        std::mem::replace(&mut self.first, next)
    }

    /// Takes out whatever equals `thing`.
    pub(crate) fn remove(&mut self, thing: &T)
    where
        T: PartialEq,
    {
        for _ in 0..self.len() {
            if let Some(first) = self.pop().filter(|first| first != thing) {
                self.push(first);
            }
        }
    }

    /// The oldest.
    #[inline]
    pub(crate) const fn front(&self) -> Option<&T> {
        self.first.as_ref()
    }

    /// The oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(self.behind.iter().flat_map(|behind| behind.iter()))
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.behind.as_ref().map_or(0, |behind| behind.len())
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_leave_in_the_order_in_which_they_came() {
        let mut fifo = Fifo::default();
        assert_eq!((fifo.pop(), fifo.len()), (None, 0));
        fifo.push(1);
        assert!(fifo.behind.is_none(), "one thing needs no memory");
        fifo.push(2);
        fifo.push(3);
        assert_eq!((fifo.len(), fifo.front()), (3, Some(&1)));
        assert_eq!(fifo.pop(), Some(1));
        fifo.push(4);
        fifo.push(7);
        fifo.remove(&7);
        assert_eq!([fifo.pop(), fifo.pop(), fifo.pop(), fifo.pop()], [Some(2), Some(3), Some(4), None]);
        assert!(fifo.is_empty());
    }
}
