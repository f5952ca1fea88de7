// width=460 height=240
import { createContext, useContext } from 'react';

const User = createContext({ name: 'Ida Brandt', since: 2019 });

function Name() {
  const { name, since } = useContext(User);
  return (
    <div>
      <strong style={{ display: 'block', fontSize: 20, lineHeight: '28px', color: '#111827' }}>{name}</strong>
      <span style={{ fontSize: 13, color: '#6b7280' }}>Member since {since}</span>
    </div>
  );
}

export default function ProfileHeader() {
  return (
    <header style={{ margin: 24, padding: 20, borderRadius: 12, background: '#fef3c7', border: '1px solid #fcd34d', fontFamily: 'sans-serif' }}>
      <div style={{ display: 'flex', alignItems: 'center', gap: 16 }}>
        <div style={{ width: 56, height: 56, borderRadius: 28, background: '#b45309' }} />
        <Name />
      </div>
      <nav style={{ display: 'flex', gap: 12, marginTop: 20 }}>
        {['Posts', 'Likes', 'Lists'].map((tab) => (
          <a key={tab} href="#" style={{ padding: '6px 12px', borderRadius: 6, background: '#ffffff', color: '#92400e', fontSize: 14 }}>{tab}</a>
        ))}
      </nav>
    </header>
  );
}
