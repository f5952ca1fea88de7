// width=400 height=300
const box = { background: '#f8fafc', minHeight: '300px', padding: '28px', fontFamily: 'Arial, sans-serif', boxSizing: 'border-box' as const };
const card = { background: '#ffffff', borderRadius: '14px', border: '1px solid #e2e8f0', padding: '22px' };

export const ContactCard = () => (
  <div style={box}>
    <div style={card}>
      <div style={{ display: 'flex', gap: '14px', alignItems: 'center', marginBottom: '16px' }}>
        <div style={{ width: '52px', height: '52px', borderRadius: '26px', background: '#7c3aed', color: '#fff', display: 'flex', alignItems: 'center', justifyContent: 'center', fontWeight: 700 }}>MK</div>
        <div>
          <div style={{ fontSize: '18px', fontWeight: 700, color: '#0f172a' }}>Mara Kovac</div>
          <div style={{ fontSize: '13px', color: '#64748b', marginTop: '3px' }}>Head of research</div>
        </div>
      </div>
      <div style={{ fontSize: '14px', lineHeight: '24px', color: '#334155' }}>mara@example.org<br />+47 555 0148</div>
      <div style={{ display: 'flex', gap: '10px', marginTop: '18px' }}>
        <button style={{ flex: 1, padding: '10px', border: 0, borderRadius: '8px', background: '#7c3aed', color: '#fff', fontSize: '14px' }}>Call</button>
        <button style={{ flex: 1, padding: '10px', border: '1px solid #c4b5fd', borderRadius: '8px', background: '#fff', color: '#6d28d9', fontSize: '14px' }}>Write</button>
      </div>
    </div>
  </div>
);

export default ContactCard;
