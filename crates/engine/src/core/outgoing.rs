//! What a worker sends: which request comes next, its bytes, and how its answer is judged.
//!
//! Invariant: a scenario of one static request costs what it did without scenarios; its bytes are never rendered again.

use super::in_flight::Which;
use super::place::Place;
use super::script::Heard;
use super::session::{Session, Steps};
use pace::{PaceError, Share};
use request::script::{Script, ScriptError};
use request::{Bytes, CallCheck, Check, Framed, Made, MakeError, Maker, StreamRule, Traffic};
use std::sync::Arc;
use std::time::SystemTime;
use units::{Nanos, Seed};
use wire::{Framing, TranslateError};

/// One worker's source of requests.
pub(crate) struct Outgoing<F: Framing> {
    traffic: Traffic,
    maker: Maker<F>,
    /// One static request; nothing is then made.
    constant: Option<Made>,
    lasting: Arc<[u8]>,
    share: Share,
    /// Requests numbered so far.
    numbered: u64,
    pub(super) steps: Option<Steps>,
    /// Makes the requests instead of the program.
    script: Option<Box<dyn Script>>,
    /// What the script wrote, where a connection sends it in another form.
    text: Vec<u8>,
    /// What its `delay` threw: the request that it belongs to fails with it.
    objection: Option<ScriptError>,
    /// Whether a script's text may hold one request only.
    one_at_a_time: bool,
}

/// Why a request could not be made.
#[derive(Debug)]
pub(super) enum Unmade {
    Program(MakeError),
    Script(ScriptError),
    /// A script's text that is not whole requests.
    Framing,
    /// A script's text of several requests where a connection carries one at a time.
    Several(usize),
    /// A script's text that the protocol cannot carry.
    Untranslated(TranslateError),
}

impl<F: Framing> Outgoing<F> {
    /// The source of worker `share`; `framed` is the traffic's program as connections speak it.
    ///
    /// # Errors
    /// A think time that cannot be.
    pub(crate) fn new(
        traffic: Traffic,
        framed: &Arc<Framed<F>>,
        script: Option<Box<dyn Script>>,
        seed: Seed,
        share: Share,
    ) -> Result<Self, PaceError> {
        let program = traffic.program();
        let mut outgoing = Self {
            script,
            text: Vec::new(),
            objection: None,
            one_at_a_time: !F::IS_HTTP1,
            maker: Maker::new(framed.clone(), share.index() as u32, share.workers() as u32),
            constant: framed.constant(),
            lasting: framed.lasting_bytes(),
            numbered: 0,
            share,
            steps: traffic.session().map(|session| Steps::new(session, program, seed, share)).transpose()?,
            traffic,
        };
        outgoing.adopt_constant();
        Ok(outgoing)
    }

    /// A connection carries one request at a time, and so a script's text is one request.
    pub(super) const fn send_one_at_a_time(&mut self) {
        self.one_at_a_time = true;
    }

    /// A script whose requests are all the same is asked once.
    fn adopt_constant(&mut self) {
        let Some(script) = &self.script else { return };
        self.constant = None;
        let Some(text) = script.constant().filter(|text| script.requests_in(text) == 1) else { return };
        let mut lasting = Vec::new();
        // One that cannot be carried fails when it is sent.
        if F::translate(text, &mut lasting).is_ok() {
            let to = lasting.len() as u32;
            self.lasting = lasting.into();
            self.constant = Some(Made { entry: 0, bytes: Bytes::Lasting { from: 0, to }, token: None });
        }
    }

    /// Whether a script makes the requests.
    pub(super) const fn has_script(&self) -> bool {
        self.script.is_some()
    }

    /// Whether the script wants to see answers.
    pub(super) fn wants_answers(&self) -> bool {
        self.script.as_ref().is_some_and(|script| script.wants_response())
    }

    /// Whether any request is a call of gRPC.
    pub(super) fn has_calls(&self) -> bool {
        self.traffic.checks().iter().any(|check| check.call().is_some())
    }

    /// Whether any request is a stream of messages.
    pub(super) fn has_streams(&self) -> bool {
        self.traffic.checks().iter().any(|check| check.call().is_some_and(|call| call.stream().is_some()))
    }

    /// How messages follow each other on the streams of an entry, if its requests are streams.
    #[inline]
    pub(super) fn stream_rule(&self, entry: u16) -> Option<&StreamRule> {
        self.check(entry).call().and_then(CallCheck::stream)
    }

    /// Whether the script pauses before requests.
    pub(super) fn has_delay(&self) -> bool {
        self.script.as_ref().is_some_and(|script| script.has_delay())
    }

    /// Whether requests have pauses before them that the load knows nothing of: a script's, or a session's.
    pub(super) fn pauses(&self) -> bool {
        self.has_delay() || self.steps.as_ref().is_some_and(Steps::think)
    }

    /// The script's pause before the next request. One that throws pauses for the time that a failure costs.
    pub(super) fn delay(&mut self) -> Nanos {
        match self.script.as_mut().map(|script| script.delay()) {
            Some(Ok(Some(pause))) => pause,
            Some(Err(error)) => {
                self.objection = Some(error);
                Nanos::ZERO
            }
            _ => Nanos::ZERO,
        }
    }

    /// Whether the script has ended this worker's load.
    pub(super) fn is_stopped(&self) -> bool {
        self.script.as_ref().is_some_and(|script| script.is_stopped())
    }

    /// Requests in a text that the script made.
    pub(super) fn requests_in(&self, rendered: &[u8]) -> usize {
        match (&self.constant, &self.script) {
            (None, Some(script)) if F::IS_HTTP1 => script.requests_in(rendered),
            _ => 1,
        }
    }

    /// Shows a complete answer to a script that wants it; what it throws comes back.
    #[inline]
    pub(super) fn show_answer(&mut self, status: u16, heard: Option<&mut Heard>) -> Option<ScriptError> {
        let (Some(script), Some(heard)) = (&mut self.script, heard) else { return None };
        let result = heard.show(|headers, body| script.response(status, headers, body));
        result.err()
    }

    /// The bytes that are sent over and over.
    pub(super) fn lasting_bytes(&self) -> Arc<[u8]> {
        self.lasting.clone()
    }

    /// Whether every request has the same bytes.
    #[inline]
    pub(super) const fn is_constant(&self) -> bool {
        self.constant.is_some()
    }

    /// The next request of a mix, or the first of a session.
    #[inline]
    pub(super) fn next(&mut self) -> Which {
        let n = self.numbered;
        self.numbered += 1;
        let entry = match (&self.constant, &self.steps) {
            (Some(_), _) => Some(0),
            (None, Some(steps)) => steps.entry(0),
            (None, None) => None,
        };
        Which { n, entry: entry.unwrap_or_else(|| self.maker.entry(n)) }
    }

    /// Number of a request over all workers.
    #[inline]
    pub(super) const fn global(&self, which: Which) -> u64 {
        self.share.number(which.n)
    }

    /// A later step of a session.
    pub(super) fn next_step(&mut self, step: usize) -> Which {
        let n = self.numbered;
        self.numbered += 1;
        let listed = self.steps.as_ref().map_or(Some(0), |steps| steps.entry(step));
        Which { n, entry: listed.unwrap_or_else(|| self.maker.entry(n)) }
    }

    /// Bytes and token of a request, into the place's memory where they are rendered.
    #[inline]
    pub(super) fn make(&mut self, which: Which, place: &mut Place) -> Result<Made, Unmade> {
        if let Some(made) = self.constant {
            return Ok(made);
        }
        if self.script.is_some() {
            return self.make_by_script(&mut place.rendered);
        }
        let Place { rendered, user, .. } = place;
        let user = user.as_deref_mut().map(Session::as_user);
        self.maker.make(which.n, user.as_ref(), rendered).map_err(Unmade::Program)
    }

    /// The script's next text, in the protocol's form where that is another.
    fn make_by_script(&mut self, rendered: &mut Vec<u8>) -> Result<Made, Unmade> {
        let Some(script) = &mut self.script else { return Err(Unmade::Framing) };
        let text = if F::IS_HTTP1 { &mut *rendered } else { &mut self.text };
        let made = made_by(script.as_mut(), self.objection.take(), text)?;
        match script.requests_in(text) {
            several if several > 1 && self.one_at_a_time => return Err(Unmade::Several(several)),
            _ => {}
        }
        if !F::IS_HTTP1 {
            rendered.clear();
            F::translate(&self.text, rendered).map_err(Unmade::Untranslated)?;
        }
        Ok(made)
    }

    /// Bytes of the next message of a place's stream, as those of its request.
    #[inline]
    pub(super) fn make_message(&mut self, place: &mut Place) -> Result<(), Unmade> {
        if self.constant.is_some() {
            return Ok(());
        }
        let Place { rendered, user, request, dialogue, .. } = place;
        let user = user.as_deref_mut().map(Session::as_user);
        let number = dialogue.as_ref().map_or(0, |dialogue| dialogue.next_number());
        let which = request.which;
        let made = self.maker.make_message(which.n, which.entry, number, user.as_ref(), rendered);
        place.bytes = made.map_err(Unmade::Program)?.bytes;
        Ok(())
    }

    /// The bytes of a request that stand in `rendered` if they were rendered.
    #[inline]
    pub(super) fn bytes<'a>(&'a self, bytes: Bytes, rendered: &'a [u8]) -> &'a [u8] {
        match bytes {
            Bytes::Lasting { from, to } => &self.lasting[from as usize..to as usize],
            Bytes::Rendered => rendered,
        }
    }

    /// The judgement of answers.
    #[inline]
    pub(super) fn check(&self, entry: u16) -> &Check {
        &self.traffic.checks()[usize::from(entry)]
    }

    /// What an error of making a request means, for people.
    pub(super) fn explain(&self, error: &Unmade) -> String {
        match error {
            Unmade::Program(error) => self.traffic.program().explain(error),
            Unmade::Script(error) => error.to_string(),
            Unmade::Framing => "request() returned a text that is not whole requests".to_owned(),
            Unmade::Several(count) => format!(
                "request() returned {count} requests; over HTTP/2, and where redirects are followed, it may return one"
            ),
            Unmade::Untranslated(error) => {
                format!("request() returned a text that HTTP/2 cannot carry: {error}")
            }
        }
    }

    /// Name of a request.
    pub(super) fn name(&self, entry: u16) -> &str {
        self.traffic.program().names().get(usize::from(entry)).map_or("", String::as_str)
    }

    /// From written to done, where the request has a time-out of its own.
    #[inline]
    pub(super) fn timeout_ns(&self, entry: u16) -> Option<u64> {
        self.traffic.program().timeout_ns(entry)
    }

    /// The shortest time-out of any request, where the load's is this.
    pub(super) fn shortest_timeout(&self, of_load: Nanos) -> Nanos {
        let program = self.traffic.program();
        let own = (0..program.names().len()).filter_map(|entry| program.timeout_ns(entry as u16));
        own.map(Nanos).fold(of_load, Nanos::min)
    }

    /// Takes what was made ahead meanwhile; called now and then, off the hot path.
    pub(super) fn refresh(&mut self) {
        if !self.is_constant() {
            self.maker.refresh(SystemTime::now());
        }
    }
}

/// The next text of a script, whole requests only.
fn made_by(
    script: &mut dyn Script,
    objection: Option<ScriptError>,
    rendered: &mut Vec<u8>,
) -> Result<Made, Unmade> {
    if let Some(error) = objection {
        return Err(Unmade::Script(error));
    }
    rendered.clear();
    script.request(rendered).map_err(Unmade::Script)?;
    if script.requests_in(rendered) == 0 {
        return Err(Unmade::Framing);
    }
    Ok(Made { entry: 0, bytes: Bytes::Rendered, token: None })
}
