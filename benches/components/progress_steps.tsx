// width=480 height=180
const css = `
  .steps { display: flex; gap: 16px; padding: 24px; margin: 0; list-style: none; font: 14px/20px sans-serif }
  .step { flex: 1; padding: 12px; border: 2px solid #cbd5e1; border-radius: 8px; color: #475569; background: #f8fafc }
  .step.done { border-color: #16a34a; color: #166534; background: #f0fdf4 }
  .step b { display: block; font-size: 20px; line-height: 28px }
`;

enum State { Done = 'done', Open = '' }

const steps: { name: string; state: State }[] = [
  { name: 'Address', state: State.Done }, { name: 'Payment', state: State.Open }, { name: 'Review', state: State.Open },
];

export const ProgressSteps = () => (
  <>
    <style>{css}</style>
    <ol className="steps">
      {steps.map(({ name, state }, at) => <li key={name} className={`step ${state}`.trim()}><b>{at + 1}</b>{name}</li>)}
    </ol>
  </>
);
