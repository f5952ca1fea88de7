// width=400 height=260
import { useReducer } from 'react';

type Action = { type: 'flip'; at: number };
const flip = (rows: boolean[], action: Action) => rows.map((on, at) => at === action.at ? !on : on);

export default function ToggleRows() {
  const [rows, dispatch] = useReducer(flip, [true, false, true]);
  return (
    <section style={{ padding: 24, background: '#0f172a', color: '#e2e8f0', font: '15px/22px sans-serif', minHeight: 212 }}>
      <h2 style={{ margin: '0 0 16px', fontSize: 17, fontWeight: 600 }}>Notifications</h2>
      {['Mentions', 'Replies', 'Weekly digest'].map((label, at) => (
        <div key={label} style={{ display: 'flex', justifyContent: 'space-between', alignItems: 'center', marginBottom: 12, padding: '10px 14px', borderRadius: 8, background: '#1e293b' }}>
          <span>{label}</span>
          <button onClick={() => dispatch({ type: 'flip', at })}
            style={{ width: 52, height: 26, border: 0, borderRadius: 13, fontSize: 12, color: '#ffffff', background: rows[at] ? '#2563eb' : '#475569' }}>
            {rows[at] ? 'On' : 'Off'}
          </button>
        </div>
      ))}
    </section>
  );
}
