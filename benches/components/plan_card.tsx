// width=360 height=340
type Plan = { name: string; price: number; features: string[] };

const plan: Plan = { name: 'Team', price: 24, features: ['Ten projects', 'Shared boards', 'Priority support'] };

export default function PlanCard() {
  return (
    <section className="m-4 rounded-xl border border-slate-200 bg-white p-6 shadow-sm">
      <h2 className="text-lg font-semibold text-slate-900">{plan.name}</h2>
      <p className="mt-2 text-3xl font-bold text-slate-900">${plan.price}<span className="text-sm text-slate-500"> a month</span></p>
      <ul className="mt-4 space-y-2">
        {plan.features.map((feature) => <li key={feature} className="text-sm text-slate-700">{feature}</li>)}
      </ul>
      <button className="mt-6 w-full rounded-lg bg-indigo-600 px-4 py-2 text-sm font-medium text-white">Choose plan</button>
    </section>
  );
}
