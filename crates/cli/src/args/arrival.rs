//! Flags that say when requests are sent: arrival law, shape of the rate, think time.

use schema::arrival::{Arrivals, Shape, Think};
use schema::experiment::{Load, LoadModel, OneOrMany};
use units::PerSecond;

#[derive(Debug, Default, clap::Args)]
pub(crate) struct ArrivalArgs {
    /// Arrival law of the open loop [default: constant]: constant, uniform, poisson, weibull:shape=K,
    /// lognormal:cv=C, gamma:shape=K, mmpp:high=5,high_for=1s,low_for=9s, or recorded:FILE with one time a line
    #[arg(long, value_name = "LAW")]
    pub(crate) arrivals: Option<Arrivals>,
    /// Rate over time, xN being multiples of the rate: ramp:to=x5,over=30s, steps:100,200,each=10s,
    /// spike:to=x9,at=10s,for=5s, sine:amplitude=x0.5,period=60s, decay:to=x0.1,over=60s, piecewise:0s@10,9s@50;
    /// after=repeat begins again
    #[arg(long, value_name = "SHAPE")]
    pub(crate) shape: Option<Shape>,
    /// Pause of the closed loop between answer and next request: 10ms, exponential:mean=10ms,
    /// normal:mean=10ms,sd=2ms, or lognormal:mean=10ms,cv=0.5
    #[arg(long, value_name = "TIME|LAW")]
    pub(crate) think: Option<Think>,
}

impl ArrivalArgs {
    /// Puts them and the rate into a load, each where `[load]` of an experiment file has it.
    pub(crate) fn put_into(&self, load: &mut Load, rate: Option<PerSecond>) {
        load.model = self.model(rate);
        load.rate = rate.map(OneOrMany::One);
        load.arrivals.clone_from(&self.arrivals);
        load.shape.clone_from(&self.shape);
        load.think.clone_from(&self.think);
    }

    /// A rate or a recording makes the load open.
    fn model(&self, rate: Option<PerSecond>) -> LoadModel {
        match self.arrivals {
            Some(Arrivals::Recorded { .. }) => LoadModel::Open,
            _ if rate.is_some() => LoadModel::Open,
            _ => LoadModel::Closed,
        }
    }
}
