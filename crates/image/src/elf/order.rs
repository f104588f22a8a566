//! The order in which objects are relocated: each after those that it needs (glibc `elf/dl-sort-maps.c`).
//!
//! It decides which library brings a unique symbol first, and nothing else about the result.

use super::closure::Closure;

/// The objects of the scope in that order. Circles are broken as the loader (since glibc 2.35) breaks them: a depth-first walk
/// from the last object of the scope to the first.
pub(super) fn relocation_order(closure: &Closure) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; closure.objects.len()];
    for &start in closure.scope.iter().rev() {
        // Each step is an object and how many of its needs are done. Not by recursion: chains may be long.
        let mut path = Vec::new();
        if visit(&mut seen, start) {
            path.push((start, 0));
        }
        while let Some((object, done)) = path.pop() {
            // The program comes last whatever needs it, and its own needs are walked from the scope.
            let needed = match object {
                0 => &[][..],
                _ => closure
                    .objects
                    .get(object)
                    .map_or(&[][..], |object| &object.needed),
            };
            match needed.get(done) {
                Some(&next) => {
                    path.push((object, done + 1));
                    if next != 0 && visit(&mut seen, next) {
                        path.push((next, 0));
                    }
                }
                None => order.push(object),
            }
        }
    }
    order
}

fn visit(seen: &mut [bool], object: usize) -> bool {
    seen.get_mut(object)
        .is_some_and(|seen| !std::mem::replace(seen, true))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::elf::closure::Object;

    fn closure(needs: &[&[usize]]) -> Closure {
        Closure {
            objects: needs
                .iter()
                .map(|needed| Object::bare(Rc::new(Vec::new()), needed.to_vec()))
                .collect(),
            scope: (0..needs.len()).collect(),
            ..Closure::default()
        }
    }

    #[test]
    fn what_is_needed_comes_first() {
        assert_eq!(
            relocation_order(&closure(&[&[1, 2], &[3], &[3], &[]])),
            [3, 2, 1, 0]
        );
        // 1 needs 2, which needs 1.
        assert_eq!(relocation_order(&closure(&[&[1], &[2], &[1]])), [1, 2, 0]);
    }
}
