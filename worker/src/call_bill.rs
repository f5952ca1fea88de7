//! Cost of a call: as its reply states it, else by the price of the model that replied, and at its
//! upper bound if neither is known.

use crate::{
    cost_bounds::{Bounds, ModelTerms},
    retry_policy::LeaseEnd,
    vision::CallEnd,
};
use juror_types::{
    lane::Lane,
    model::{PriceEntry, Prices, is_same_model},
    usage::{Money, Usage},
};
use parking_lot::Mutex;
use std::collections::BTreeSet;

/// The pricing of one run's calls.
#[derive(Debug)]
pub struct CallPricing {
    /// The model's names: the requested one, and the one that it is an alias of.
    names: Vec<String>,
    terms: ModelTerms,
    /// Prices, for a model that replaced the requested one.
    prices: Prices,
    /// Kinds of warnings that were returned.
    warned: Mutex<BTreeSet<PricingWarning>>,
}

/// Bill of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallBill {
    /// Booked amount.
    pub cost: Money,
    /// Tokens of the call; their maximum if the reply does not state them.
    pub usage: Usage,
    /// Cost by the price table, if the reply stated its own cost.
    pub table_cost: Option<Money>,
    /// True if the reply stated its usage or its cost.
    pub metered: bool,
}

impl CallPricing {
    /// The pricing of calls to a model that has these names, on these terms.
    pub fn new(names: Vec<String>, terms: ModelTerms, prices: Prices) -> Self {
        Self { names, terms, prices, warned: Mutex::default() }
    }

    /// Responding model, if it is not the requested one.
    pub fn other_model<'end>(&self, end: &'end CallEnd) -> Option<&'end str> {
        let answered = end.answer()?.model.as_deref()?;
        let is_asked = self.names.iter().any(|name| is_same_model(name, answered));
        (!is_asked).then_some(answered)
    }

    /// The bill of a call that ended like this; `None` if it is not settled. An end that states no
    /// lane is billed in the lane `sent_in`. A stated cost of zero is ignored for a model that has
    /// a price.
    pub fn bill(
        &self,
        end: &CallEnd,
        sent_in: Lane,
        lease_end: LeaseEnd,
        bounds: &Bounds,
    ) -> Option<CallBill> {
        let LeaseEnd::Settle(usage) = lease_end else { return None };
        let table_cost = match usage {
            Some(usage) => self.table_cost(end, sent_in, &usage, bounds),
            None => self.bound(end, bounds),
        };
        let reported_cost = end
            .answer()
            .and_then(|answer| answer.cost)
            .filter(|reported_cost| *reported_cost > Money::ZERO || table_cost == Money::ZERO);
        let most = Usage {
            input_tokens: bounds.input_tokens,
            cached_input_tokens: 0,
            output_tokens: bounds.max_output_tokens,
        };
        Some(CallBill {
            cost: reported_cost.unwrap_or(table_cost),
            usage: usage.unwrap_or(most),
            table_cost: reported_cost.and(usage).map(|_| table_cost),
            metered: usage.is_some() || reported_cost.is_some(),
        })
    }

    /// Maximum cost of the call with the responding model.
    fn bound(&self, end: &CallEnd, bounds: &Bounds) -> Money {
        let other = self.other_model(end).and_then(|model| self.prices.find(model));
        let worst = other
            .map(|entry| entry.price.worst_cost(bounds.input_tokens, bounds.max_output_tokens));
        worst.unwrap_or_default().max(bounds.worst_cost)
    }

    /// Cost by the price table. A model without a price may cost more than any known one, so its
    /// replies count at their bound. A service tier without a price costs up to twice the standard
    /// one (OpenAI's priority processing, 2026), or the bound if that is more.
    fn table_cost(&self, end: &CallEnd, sent_in: Lane, usage: &Usage, bounds: &Bounds) -> Money {
        let stated = end.answer().map(|answer| (answer.cache_write_tokens, answer.lane));
        let (written, lane) = stated.unwrap_or((None, sent_in));
        let cost = |entry: &PriceEntry, written| entry.price_in(lane).cost(usage, written);
        let own_cost = || {
            let unreported = self.terms.facts.prompt_cache.unreported_writes();
            cost(self.version(end).unwrap_or(&self.terms.prices), written.or(unreported))
        };
        let cost = match self.other_model(end).map(|model| self.prices.find(model)) {
            None => own_cost(),
            Some(Some(entry)) => cost(entry, written),
            Some(None) => own_cost().max(bounds.worst_cost),
        };
        match dearer_tier(end) {
            Some(_) => (cost + cost).max(bounds.worst_cost),
            None => cost,
        }
    }

    /// The price of the requested model's version that answered, if it has one of its own.
    fn version(&self, end: &CallEnd) -> Option<&PriceEntry> {
        let answered = end.answer()?.model.as_deref()?;
        self.prices.find_version(&self.terms.prices.model, answered)
    }

    /// Warnings about this call; each kind is returned once.
    pub fn warnings(&self, end: &CallEnd, bill: &CallBill) -> Vec<String> {
        let mut warnings = [self.model_warnings(end), self.tier_warnings(end)].concat();
        if !bill.metered && self.is_first(PricingWarning::UnknownUsage) {
            warnings.push(format!(
                "the vision API does not report the usage of its replies: each is booked at its \
                 maximum cost (this one at ${})",
                bill.cost
            ));
        }
        if let Some(table_cost) = bill.table_cost
            && differs(bill.cost, table_cost)
            && self.is_first(PricingWarning::OtherCost)
        {
            warnings.push(format!(
                "the vision API charged ${} for a reply that costs ${table_cost} by the price \
                 table: the charged amount is booked; correct the model's price in juror.toml",
                bill.cost
            ));
        }
        warnings
    }

    /// Warnings about the model that answered.
    fn model_warnings(&self, end: &CallEnd) -> Vec<String> {
        let requested = self.names.first().map_or("", String::as_str);
        let mut warnings = Vec::new();
        if let Some(model) = self.other_model(end)
            && self.is_first(PricingWarning::OtherModel)
        {
            let priced = match self.prices.find(model) {
                Some(_) => "its own price",
                None => "their maximum cost, since it has no price",
            };
            warnings.push(format!(
                "model {model} replies in place of {requested}: its replies are booked at \
                 {priced} and not cached; if both are the same model, set \
                 [models.\"{requested}\"] like = \"{model}\" in juror.toml; judge.other_model = \
                 \"refuse\" pauses the run instead"
            ));
        }
        if let Some(version) = self.version(end)
            && version.price != self.terms.prices.price
            && self.is_first(PricingWarning::PricedVersion)
        {
            warnings.push(format!(
                "{} replies for {requested} and has a price of its own, at which its replies are booked; \
                 set judge.model = \"{}\" so that budgets count by it too",
                version.model, version.model
            ));
        }
        warnings
    }

    /// Warnings about the service tier and the lane of a reply.
    fn tier_warnings(&self, end: &CallEnd) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(tier) = dearer_tier(end)
            && self.is_first(PricingWarning::DearerTier)
        {
            warnings.push(format!(
                "the vision API replies in the service tier {tier}, which has no price: such \
                 replies are booked at twice the standard price, or at their maximum cost if that \
                 is more; set the project's default service tier to standard at the provider"
            ));
        }
        if let Some(answer) = end.answer()
            && answer.lane != self.terms.lane
            && self.terms.lane != Lane::Mixed
            // Batch rows keep the lane batch even if the run's lane has changed.
            && answer.lane != Lane::Batch
            && self.is_first(PricingWarning::OtherLane)
        {
            warnings.push(format!(
                "the vision API replies in the lane {} in place of {}: such replies are \
                 booked at the price of the lane that they name, and at the realtime price where \
                 they name none",
                answer.lane.name(),
                self.terms.lane.name()
            ));
        }
        warnings
    }

    /// True at the first warning of this kind.
    fn is_first(&self, warning: PricingWarning) -> bool {
        self.warned.lock().insert(warning)
    }
}

/// Kind of a warning about the cost of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PricingWarning {
    OtherModel,
    UnknownUsage,
    OtherCost,
    OtherLane,
    PricedVersion,
    DearerTier,
}

fn dearer_tier(end: &CallEnd) -> Option<&str> {
    end.answer()?.dearer_tier.as_deref()
}

/// True if two sums differ by more than one percent.
fn differs(charged: Money, table: Money) -> bool {
    let apart = i128::from(charged.pico()) - i128::from(table.pico());
    apart.abs() * 100 > i128::from(table.pico())
}

#[cfg(test)]
mod tests;
