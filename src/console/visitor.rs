//! Who is logged in: a cookie and a token beside it, in memory only. Must never let in whoever has one of the two.

use std::time::{Duration, Instant};

use super::secret::Secret;

/// Logins at once; a further one ends the one that was used longest ago.
const VISITORS_MAX: usize = 4;

/// The logins of this process. They end with it.
#[derive(Debug)]
pub(super) struct Visitors {
    idle: Duration,
    life: Duration,
    inside: Vec<Visitor>,
}

#[derive(Debug)]
struct Visitor {
    cookie: Secret,
    token: Secret,
    since: Instant,
    /// When a person last did something.
    seen: Instant,
}

/// What a browser carries: the cookie by itself, the token because our page puts it there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried<'a> {
    pub(super) cookie: &'a str,
    pub(super) token: &'a str,
}

/// A fresh login's two secrets, for one answer.
#[derive(Debug)]
pub(super) struct Admission {
    pub(super) cookie: String,
    pub(super) token: String,
}

/// Whether a request is a person's doing, or the page's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Person,
    Page,
}

impl Visitors {
    pub(super) const fn new(idle: Duration, life: Duration) -> Self {
        Self { idle, life, inside: Vec::new() }
    }

    /// Lets a browser in.
    ///
    /// # Errors
    ///
    /// Where the system gives no random bytes.
    pub(super) fn admit(&mut self, now: Instant) -> Result<Admission, getrandom::Error> {
        let (cookie, token) = (Secret::draw()?, Secret::draw()?);
        self.put_out(now);
        if VISITORS_MAX <= self.inside.len()
            && let Some((at, _)) = self.inside.iter().enumerate().min_by_key(|(_, visitor)| visitor.seen)
        {
            self.inside.swap_remove(at);
        }
        let admission = Admission { cookie: cookie.expose().to_owned(), token: token.expose().to_owned() };
        self.inside.push(Visitor { cookie, token, since: now, seen: now });
        Ok(admission)
    }

    /// Whether `carried` is a login that lasts. What a person did keeps it alive; what the page asks by itself does not.
    pub(super) fn knows(&mut self, carried: Carried<'_>, by: By, now: Instant) -> bool {
        self.put_out(now);
        match self.inside.iter_mut().find(|visitor| visitor.is(carried)) {
            Some(visitor) => {
                if by == By::Person {
                    visitor.seen = now;
                }
                true
            }
            None => false,
        }
    }

    /// Ends a login.
    pub(super) fn leave(&mut self, carried: Carried<'_>) {
        self.inside.retain(|visitor| !visitor.is(carried));
    }

    /// Ends the logins whose time is over.
    fn put_out(&mut self, now: Instant) {
        let (idle, life) = (self.idle, self.life);
        self.inside.retain(|visitor| {
            now.saturating_duration_since(visitor.seen) < idle && now.saturating_duration_since(visitor.since) < life
        });
    }
}

impl Visitor {
    fn is(&self, carried: Carried<'_>) -> bool {
        // Both are looked at, whatever the first one says.
        self.cookie.is(carried.cookie) & self.token.is(carried.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(900);
    const LIFE: Duration = Duration::from_secs(3600);

    fn carried(admission: &Admission) -> Carried<'_> {
        Carried { cookie: &admission.cookie, token: &admission.token }
    }

    #[test]
    fn it_takes_the_cookie_and_the_token_of_one_login() {
        let now = Instant::now();
        let mut visitors = Visitors::new(IDLE, LIFE);
        let (one, other) = (visitors.admit(now).unwrap(), visitors.admit(now).unwrap());
        assert!(visitors.knows(carried(&one), By::Page, now) && visitors.knows(carried(&other), By::Page, now));
        for (cookie, token) in [(&one.cookie, &other.token), (&one.cookie, &one.cookie), (&one.token, &one.token)] {
            assert!(!visitors.knows(Carried { cookie, token }, By::Person, now));
        }
        assert!(!visitors.knows(Carried { cookie: &one.cookie, token: "" }, By::Person, now));
        visitors.leave(carried(&one));
        assert!(!visitors.knows(carried(&one), By::Person, now) && visitors.knows(carried(&other), By::Person, now));
    }

    #[test]
    fn a_login_ends_when_nobody_does_anything_and_a_page_that_looks_by_itself_does_not_keep_it() {
        let now = Instant::now();
        let later = |seconds| now.checked_add(Duration::from_secs(seconds)).unwrap();
        let mut visitors = Visitors::new(IDLE, LIFE);
        let one = visitors.admit(now).unwrap();
        assert!(visitors.knows(carried(&one), By::Person, later(800)));
        assert!(visitors.knows(carried(&one), By::Page, later(1699)));
        assert!(!visitors.knows(carried(&one), By::Page, later(1700)), "the page kept it");
        let one = visitors.admit(now).unwrap();
        for minute in 1..60 {
            assert!(visitors.knows(carried(&one), By::Person, later(minute * 60)));
        }
        assert!(!visitors.knows(carried(&one), By::Person, later(3600)), "no login lasts for ever");
    }

    #[test]
    fn there_is_room_for_a_few_and_the_one_used_longest_ago_makes_it() {
        let now = Instant::now();
        let mut visitors = Visitors::new(IDLE, LIFE);
        let first = visitors.admit(now).unwrap();
        let second = visitors.admit(now).unwrap();
        let later = now.checked_add(Duration::from_secs(1)).unwrap();
        assert!(visitors.knows(carried(&first), By::Person, later));
        for _ in 2..=VISITORS_MAX {
            visitors.admit(later).unwrap();
        }
        assert!(visitors.knows(carried(&first), By::Page, later) && !visitors.knows(carried(&second), By::Page, later));
    }
}
