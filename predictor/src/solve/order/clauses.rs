//! Where clauses are kept: one after the other, in one array.

use crate::solve::formula::Lit;

/// A clause of the store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ClauseRef(u32);

#[derive(Clone, Copy, Debug)]
struct Header {
    start: u32,
    len: u32,
    /// How many levels it spanned when it was learnt; none for a given clause.
    lbd: Option<u32>,
    deleted: bool,
}

/// All clauses. The space of deleted ones is used again once they are the larger part.
#[derive(Debug, Default)]
pub(super) struct Clauses {
    headers: Vec<Header>,
    literals: Vec<Lit>,
    /// How many literals belong to deleted clauses.
    wasted: usize,
    /// Headers of deleted clauses whose space was given back.
    free: Vec<ClauseRef>,
}

impl Clauses {
    /// Adds a clause; `lbd` if it was learnt.
    pub(super) fn add(&mut self, literals: &[Lit], lbd: Option<u32>) -> ClauseRef {
        let start = self.literals.len() as u32;
        self.literals.extend_from_slice(literals);
        let header = Header { start, len: literals.len() as u32, lbd, deleted: false };
        match self.free.pop() {
            Some(free) => {
                self.headers[free.0 as usize] = header;
                free
            }
            None => {
                self.headers.push(header);
                ClauseRef(self.headers.len() as u32 - 1)
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.headers.len() - self.free.len()
    }

    #[inline]
    pub(super) fn literals(&self, clause: ClauseRef) -> &[Lit] {
        let header = &self.headers[clause.0 as usize];
        &self.literals[header.start as usize..(header.start + header.len) as usize]
    }

    #[inline]
    pub(super) fn literals_mut(&mut self, clause: ClauseRef) -> &mut [Lit] {
        let header = &self.headers[clause.0 as usize];
        &mut self.literals[header.start as usize..(header.start + header.len) as usize]
    }

    pub(super) fn lbd(&self, clause: ClauseRef) -> u32 {
        self.headers[clause.0 as usize].lbd.unwrap_or(0)
    }

    /// Deletes a clause. It may not be used again, and what refers to it has to go before the next
    /// one is added.
    pub(super) fn delete(&mut self, clause: ClauseRef) {
        let header = &mut self.headers[clause.0 as usize];
        header.deleted = true;
        self.wasted += header.len as usize;
    }

    pub(super) fn is_deleted(&self, clause: ClauseRef) -> bool {
        self.headers[clause.0 as usize].deleted
    }

    /// Gives back the space of deleted clauses, if that is worth it. Nothing may refer to them.
    pub(super) fn compact(&mut self) {
        if self.wasted * 2 < self.literals.len() {
            return;
        }
        let mut literals = Vec::with_capacity(self.literals.len() - self.wasted);
        self.free.clear();
        for (index, header) in self.headers.iter_mut().enumerate() {
            if header.deleted {
                self.free.push(ClauseRef(index as u32));
                header.len = 0;
                continue;
            }
            let start = literals.len() as u32;
            let range = header.start as usize..(header.start + header.len) as usize;
            literals.extend_from_slice(&self.literals[range]);
            header.start = start;
        }
        self.literals = literals;
        self.wasted = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deleted_space_is_used_again() {
        let lits =
            |numbers: &[usize]| numbers.iter().map(|n| Lit::positive(*n)).collect::<Vec<_>>();
        let mut clauses = Clauses::default();
        let first = clauses.add(&lits(&[1, 2, 3]), Some(2));
        let second = clauses.add(&lits(&[4, 5]), None);
        clauses.delete(first);
        assert!(clauses.is_deleted(first));
        clauses.compact();
        assert_eq!(clauses.literals(second), lits(&[4, 5]));
        let third = clauses.add(&lits(&[6, 7]), Some(1));
        assert_eq!(third, first);
        assert!(!clauses.is_deleted(third));
        assert_eq!((clauses.lbd(third), clauses.count()), (1, 2));
    }
}
