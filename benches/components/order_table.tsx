// width=520 height=260
import type { CSSProperties } from 'react';

const orders = [['#1042', 'Paid', '$84.00'], ['#1043', 'Open', '$12.50'], ['#1044', 'Paid', '$230.10']];
const cell: CSSProperties = { padding: '10px 14px', borderBottom: '1px solid #e2e8f0', textAlign: 'left', color: '#334155' };

export default function OrderTable() {
  return (
    <div style={{ margin: 20, font: '14px/20px sans-serif' }}>
      <h2 style={{ margin: '0 0 12px', fontSize: 18, color: '#0f172a' }}>Orders</h2>
      <table style={{ width: '100%', borderCollapse: 'collapse', background: '#ffffff', border: '1px solid #cbd5e1' }}>
        <thead>
          <tr style={{ background: '#f1f5f9' }}>{['Order', 'State', 'Total'].map((name) => <th key={name} style={cell}>{name}</th>)}</tr>
        </thead>
        <tbody>
          {orders.map((order) => <tr key={order[0]}>{order.map((text) => <td key={text} style={cell}>{text}</td>)}</tr>)}
        </tbody>
      </table>
    </div>
  );
}
