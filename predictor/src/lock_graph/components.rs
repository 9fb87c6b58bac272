//! Strongly connected components: vertices that lead to each other.

/// The number of each vertex's component, of a graph that says what each vertex leads to (Tarjan's
/// algorithm, without recursion).
pub(crate) fn components(next: &[Vec<usize>]) -> Vec<usize> {
    let count = next.len();
    let (mut index, mut low) = (vec![usize::MAX; count], vec![0; count]);
    let mut component = vec![usize::MAX; count];
    let (mut stack, mut counter, mut components) = (Vec::new(), 0, 0);
    for root in 0..count {
        if index[root] != usize::MAX {
            continue;
        }
        let mut way: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some((vertex, edge)) = way.pop() {
            if edge == 0 {
                (index[vertex], low[vertex]) = (counter, counter);
                counter += 1;
                stack.push(vertex);
            }
            if let Some(next) = next[vertex].get(edge) {
                way.push((vertex, edge + 1));
                if index[*next] == usize::MAX {
                    way.push((*next, 0));
                } else if component[*next] == usize::MAX {
                    low[vertex] = low[vertex].min(index[*next]);
                }
                continue;
            }
            if low[vertex] == index[vertex] {
                while let Some(member) = stack.pop() {
                    component[member] = components;
                    if member == vertex {
                        break;
                    }
                }
                components += 1;
            }
            if let Some((before, _)) = way.last() {
                low[*before] = low[*before].min(low[vertex]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_lead_to_each_other_are_one() {
        let found = components(&[vec![1], vec![2], vec![0, 3], vec![4], vec![3], vec![0, 3]]);
        assert!(found[0] == found[1] && found[1] == found[2] && found[3] == found[4]);
        let mut numbers = vec![found[0], found[3], found[5]];
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2]);
    }
}
