//! Clock tests on a source that the test moves by hand.

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
struct Dial {
    wall_s: AtomicU64,
    boot_ms: AtomicU64,
    boot: AtomicU64,
    /// For how long the process is stopped after its next look at the boot clock, in seconds.
    stop_s: AtomicU64,
}

#[derive(Clone, Debug)]
struct Fake(Arc<Dial>);

impl Fake {
    fn at(wall_s: u64, boot_ms: u64) -> Self {
        let fake = Self(Arc::new(Dial::default()));
        fake.0.wall_s.store(wall_s, Ordering::SeqCst);
        fake.0.boot_ms.store(boot_ms, Ordering::SeqCst);
        fake
    }

    fn pass(&self, seconds: u64) {
        self.0.wall_s.fetch_add(seconds, Ordering::SeqCst);
        self.0.boot_ms.fetch_add(seconds.saturating_mul(1000), Ordering::SeqCst);
    }

    fn set_wall(&self, wall_s: u64) {
        self.0.wall_s.store(wall_s, Ordering::SeqCst);
    }

    fn reboot(&self) {
        self.0.boot.fetch_add(1, Ordering::SeqCst);
        self.0.boot_ms.store(500, Ordering::SeqCst);
    }

    fn boxed(&self) -> Box<dyn TimeSource> {
        Box::new(self.clone())
    }
}

impl TimeSource for Fake {
    fn wall_s(&self) -> Option<u64> {
        Some(self.0.wall_s.load(Ordering::SeqCst)).filter(|seconds| *seconds != 0)
    }

    fn boot_ms(&self) -> u64 {
        let boot_ms = self.0.boot_ms.load(Ordering::SeqCst);
        self.pass(self.0.stop_s.swap(0, Ordering::SeqCst));
        boot_ms
    }

    fn boot_id(&self) -> String {
        format!("boot-{}", self.0.boot.load(Ordering::SeqCst))
    }
}

const START: u64 = 1_800_000_000;

#[test]
fn time_passes_with_both_clocks() {
    let fake = Fake::at(START, 5_000);
    let clock = LedgerClock::first(fake.boxed());
    fake.pass(3_600);
    assert_eq!(clock.read(), Reading { now_s: START + 3_600, trust: Trust::Steady });
}

#[test]
fn who_is_stopped_between_two_looks_sees_no_jump() {
    let fake = Fake::at(START, 5_000);
    let clock = LedgerClock::first(fake.boxed());
    fake.0.stop_s.store(600, Ordering::SeqCst);
    assert_eq!(clock.read(), Reading { now_s: START + 600, trust: Trust::Steady });
}

#[test]
fn a_small_step_back_stands_still_instead_of_going_back() {
    let fake = Fake::at(START, 5_000);
    let clock = LedgerClock::first(fake.boxed());
    fake.pass(100);
    assert_eq!(clock.read().now_s, START + 100);
    fake.set_wall(START + 40);
    assert_eq!(clock.read(), Reading { now_s: START + 100, trust: Trust::Steady });
}

#[test]
fn exactly_two_minutes_is_drift_and_one_second_more_is_a_jump() {
    let fake = Fake::at(START, 5_000);
    let clock = LedgerClock::first(fake.boxed());
    fake.set_wall(START + JUMP_S);
    assert_eq!(clock.read().trust, Trust::Steady);
    fake.set_wall(START + JUMP_S + 1);
    assert_eq!(clock.read().trust, Trust::Jumped(Jump::Forwards { by_s: JUMP_S + 1 }));
}

#[test]
fn a_jump_forwards_frees_no_window_and_goes_on_by_the_boot_clock() {
    let fake = Fake::at(START, 5_000);
    let clock = LedgerClock::first(fake.boxed());
    fake.set_wall(START + 86_400);
    assert_eq!(clock.read().now_s, START, "the leap itself must not become ledger time");
    fake.pass(10);
    assert_eq!(clock.read().now_s, START + 10);
    assert_eq!(clock.memory().recorded_s, START + 10);
}

#[test]
fn a_jump_backwards_is_noticed_while_running() {
    let fake = Fake::at(START, 5_000);
    let clock = LedgerClock::first(fake.boxed());
    fake.set_wall(START - 500);
    assert_eq!(clock.read(), Reading { now_s: START, trust: Trust::Jumped(Jump::Backwards { by_s: 500 }) });
}

#[test]
fn many_small_steps_add_up_to_a_jump() {
    let fake = Fake::at(START, 5_000);
    let clock = LedgerClock::first(fake.boxed());
    fake.set_wall(START + 100);
    assert_eq!(clock.read().trust, Trust::Steady);
    fake.set_wall(START + 200);
    assert!(matches!(clock.read().trust, Trust::Jumped(_)), "two steps of 100 s are a jump of 200 s");
}

#[test]
fn a_jump_sticks_although_the_clock_comes_back() {
    let fake = Fake::at(START, 5_000);
    let clock = LedgerClock::first(fake.boxed());
    fake.set_wall(START + 9_999);
    assert!(matches!(clock.read().trust, Trust::Jumped(_)));
    fake.set_wall(START);
    assert!(matches!(clock.read().trust, Trust::Jumped(_)));
    assert_eq!(clock.confirm(), Some(Confirmed { from_s: START, to_s: START }));
    assert_eq!(clock.read().trust, Trust::Steady);
}

#[test]
fn a_person_may_confirm_the_new_time_in_either_direction() {
    let fake = Fake::at(START, 5_000);
    let clock = LedgerClock::first(fake.boxed());
    fake.set_wall(START + 9_999);
    assert!(matches!(clock.read().trust, Trust::Jumped(_)));
    assert_eq!(clock.confirm(), Some(Confirmed { from_s: START, to_s: START + 9_999 }));
    fake.set_wall(START + 10);
    assert!(matches!(clock.read().trust, Trust::Jumped(Jump::Backwards { by_s: 9_989 })));
    assert_eq!(clock.confirm(), Some(Confirmed { from_s: START + 9_999, to_s: START + 10 }));
    assert_eq!(clock.read(), Reading { now_s: START + 10, trust: Trust::Steady });
}

#[test]
fn a_restart_in_the_same_boot_still_knows_the_old_comparison() {
    let fake = Fake::at(START, 5_000);
    let memory = LedgerClock::first(fake.boxed()).memory();
    fake.pass(60);
    let steady = LedgerClock::resume(fake.boxed(), memory.clone());
    assert_eq!(steady.read(), Reading { now_s: START + 60, trust: Trust::Steady });
    fake.set_wall(START + 5_000);
    let jumped = LedgerClock::resume(fake.boxed(), memory);
    assert!(matches!(jumped.read().trust, Trust::Jumped(Jump::Forwards { .. })));
}

#[test]
fn backwards_across_a_reboot_is_a_jump_and_a_little_is_not() {
    let fake = Fake::at(START, 5_000);
    let memory = LedgerClock::first(fake.boxed()).memory();
    fake.reboot();
    fake.set_wall(START - JUMP_S);
    assert_eq!(
        LedgerClock::resume(fake.boxed(), memory.clone()).read(),
        Reading { now_s: START, trust: Trust::Steady }
    );
    fake.set_wall(START - JUMP_S - 1);
    let clock = LedgerClock::resume(fake.boxed(), memory);
    assert_eq!(clock.read().trust, Trust::Jumped(Jump::Backwards { by_s: JUMP_S + 1 }));
    fake.pass(30);
    assert_eq!(clock.read().now_s, START + 30, "time goes on from the recorded time by the boot clock");
}

#[test]
fn a_clock_that_is_not_set_is_not_a_clock() {
    let fake = Fake::at(0, 5_000);
    let clock = LedgerClock::first(fake.boxed());
    assert_eq!(clock.read().trust, Trust::Jumped(Jump::Unset));
    assert_eq!(clock.confirm(), None, "nobody can confirm a time that is not there");
    fake.set_wall(START);
    assert!(clock.confirm().is_some());
    assert_eq!(clock.read(), Reading { now_s: START, trust: Trust::Steady });
}

#[test]
fn the_machine_has_a_time() {
    let clock = LedgerClock::first(Box::new(MachineTime));
    let reading = clock.read();
    assert_eq!(reading.trust, Trust::Steady);
    assert!(START - 200_000_000 < reading.now_s);
    assert_eq!(MachineTime.boot_id().len(), 36);
}
