//! Rules by what they need: from a fact to the few rules that it leaves.

use std::collections::BTreeMap;

use super::access::{Access, Load};
use super::table::{Table, mixed};

/// Rules, each reachable by one fact it needs, or else among those that are always tried.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// The first of its rules.
    pub(super) least: u32,
    /// Rules that hold once a fact has led here, in order.
    pub(super) held: Box<[u32]>,
    /// Rules that are tried one by one, in order.
    pub(super) scan: Box<[u32]>,
    pub(super) splits: Box<[Split]>,
}

/// Rules that need a fact of one probe, by what they need.
#[derive(Debug)]
pub(super) struct Split {
    pub(super) probe: usize,
    pub(super) buckets: Box<[Tree]>,
    /// Of each bucket which codes it is for.
    blocks: Box<[Block]>,
    by_block: Table,
    /// The levels at which there are blocks.
    levels: Box<[u32]>,
}

/// The codes whose upper bits, down to the level's, are these. A range of codes is a few blocks,
/// and a code lies in one block a level.
type Block = (u32, u32);

/// So few rules are tried one by one, unless a fact settles them.
const FEW: usize = 8;
/// Facts that lead to a rule, at most.
const DEPTH: usize = 6;
/// Entries of all buckets for each check, at most: what bounds memory.
const ENTRIES: usize = 32;

/// Builds trees.
#[derive(Debug)]
pub(super) struct Planter<'a> {
    accesses: &'a [Access],
    /// How many entries may still be made.
    left: usize,
}

impl<'a> Planter<'a> {
    pub(super) fn new(accesses: &'a [Access], checks: usize) -> Self {
        Self { accesses, left: checks.saturating_mul(ENTRIES) }
    }

    /// The tree of some rules, in order; `used` are the probes that led to them.
    pub(super) fn tree(&mut self, rules: &[u32], used: &mut Vec<usize>) -> Tree {
        let least = rules.first().copied().unwrap_or(u32::MAX);
        let (held, rules): (Vec<u32>, Vec<u32>) =
            rules.iter().partition(|rule| !used.is_empty() && self.access(**rule).settles());
        let held = held.into();
        if (rules.len() <= FEW && !used.is_empty()) || used.len() >= DEPTH {
            return Tree { least, held, scan: rules.into(), splits: Box::default() };
        }
        let (mut scan, by_probe) = self.chosen(&rules, used);
        let mut splits = Vec::new();
        for (probe, rules) in by_probe {
            if let Some(split) = self.split(probe, &rules, used) {
                splits.push(split);
            } else {
                scan.extend(rules);
            }
        }
        scan.sort_unstable();
        scan.dedup();
        Tree { least, held, scan: scan.into(), splits: splits.into() }
    }

    /// By which probe each rule is found, and the rules that are by none.
    fn chosen(&self, rules: &[u32], used: &[usize]) -> (Vec<u32>, BTreeMap<usize, Vec<u32>>) {
        let loads = self.loads(rules, used);
        let half = u64::try_from(rules.len() / 2).unwrap_or(u64::MAX);
        let mut scan = Vec::new();
        let mut by_probe: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for rule in rules {
            let probes = self.probes(*rule, &loads, half, used.is_empty());
            if probes.is_empty() {
                scan.push(*rule);
            }
            for probe in probes {
                by_probe.entry(probe).or_default().push(*rule);
            }
        }
        (scan, by_probe)
    }

    /// The probe that brings up the fewest other rules with a rule; for one that holds by any of
    /// its checks, all its probes. What brings up more than `half` is no gain, unless it settles the
    /// rule.
    fn probes(
        &self,
        rule: u32,
        loads: &BTreeMap<usize, Load>,
        half: u64,
        at_root: bool,
    ) -> Vec<usize> {
        let access = self.access(rule);
        let needs = access.needs.iter();
        let means: Vec<(u64, usize)> = needs
            .filter_map(|(probe, spans)| Some((loads.get(probe)?.mean(spans), *probe)))
            .collect();
        if access.any {
            let cost: u64 = means.iter().map(|(mean, _)| mean).sum();
            let wanted = at_root && cost <= half;
            return means.into_iter().filter(|_| wanted).map(|(_, probe)| probe).collect();
        }
        let least = means.into_iter().min().filter(|(mean, _)| access.sole || *mean <= half);
        least.map(|(_, probe)| probe).into_iter().collect()
    }

    fn loads(&self, rules: &[u32], used: &[usize]) -> BTreeMap<usize, Load> {
        let mut spans: BTreeMap<usize, Vec<&(u32, u32)>> = BTreeMap::new();
        for rule in rules {
            for (probe, needed) in &self.access(*rule).needs {
                if !used.contains(probe) {
                    spans.entry(*probe).or_default().extend(needed);
                }
            }
        }
        spans.into_iter().map(|(probe, spans)| (probe, Load::new(spans.into_iter()))).collect()
    }

    /// The rules by the blocks of what they need of a probe; `None` when they are few and not
    /// settled by it, or their blocks too many.
    fn split(&mut self, probe: usize, rules: &[u32], used: &mut Vec<usize>) -> Option<Split> {
        let settled = || rules.iter().all(|rule| self.access(*rule).settles());
        if rules.len() < 2 || (rules.len() <= FEW && !settled()) {
            return None;
        }
        let mut by_block: BTreeMap<Block, Vec<u32>> = BTreeMap::new();
        let mut entries = 0_usize;
        for rule in rules {
            for block in self.spans(*rule, probe).iter().flat_map(|span| blocks(*span)) {
                let bucket = by_block.entry(block).or_default();
                if bucket.last() != Some(rule) {
                    bucket.push(*rule);
                    entries = entries.saturating_add(1);
                }
            }
        }
        self.left = self.left.checked_sub(entries)?;
        used.push(probe);
        let buckets = by_block.values().map(|rules| self.tree(rules, used)).collect();
        used.pop();
        let blocks: Box<[Block]> = by_block.into_keys().collect();
        let mut levels: Vec<u32> = blocks.iter().map(|block| block.0).collect();
        levels.dedup();
        let by_block = Table::new(blocks.iter().map(|block| hash(*block)));
        Some(Split { probe, buckets, blocks, by_block, levels: levels.into() })
    }

    fn access(&self, rule: u32) -> &'a Access {
        const NONE: &Access = &Access { needs: Vec::new(), any: false, sole: false };
        self.accesses.get(rule as usize).unwrap_or(NONE)
    }

    fn spans(&self, rule: u32, probe: usize) -> &'a [(u32, u32)] {
        let mut needs = self.access(rule).needs.iter();
        needs.find(|need| need.0 == probe).map_or(&[], |need| &need.1)
    }
}

impl Split {
    /// The buckets of the rules that a code satisfies.
    pub(super) fn buckets_of(&self, code: u32) -> impl Iterator<Item = &Tree> {
        self.levels.iter().filter_map(move |level| {
            let block = (*level, code.unbounded_shr(*level));
            let is_it = |at: usize| self.blocks.get(at) == Some(&block);
            self.by_block.find(hash(block), is_it).and_then(|at| self.buckets.get(at))
        })
    }
}

/// A range of codes as blocks, at most two a level.
fn blocks((first, last): (u32, u32)) -> Vec<Block> {
    let mut blocks = Vec::new();
    let (mut level, mut low, mut end) = (0_u32, first, last.saturating_add(1));
    while low < end {
        if low & 1 == 1 {
            blocks.push((level, low));
            low = low.saturating_add(1);
        }
        if end & 1 == 1 {
            end = end.saturating_sub(1);
            blocks.push((level, end));
        }
        (level, low, end) = (level.saturating_add(1), low >> 1, end >> 1);
    }
    blocks
}

fn hash((level, bits): Block) -> u64 {
    mixed(0, (u64::from(level) << 32) | u64::from(bits))
}
