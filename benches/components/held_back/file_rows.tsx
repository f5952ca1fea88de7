// width=560 height=320
import { useState } from 'react';

const files = [['report.pdf', '2.1 MB'], ['photo.png', '840 KB'], ['notes.txt', '3 KB']];

export default function FileRows() {
  const [chosen] = useState('photo.png');
  return (
    <div>
      <style>{`
        .files { margin: 20px; border: 1px solid #cbd5e1; border-radius: 10px; font-family: Arial, sans-serif; background: #fff; }
        .files h3 { margin: 0; padding: 14px 18px; font-size: 16px; color: #0f172a; border-bottom: 1px solid #cbd5e1; }
        .row { display: flex; align-items: center; gap: 12px; padding: 12px 18px; font-size: 14px; color: #334155; }
        .row.chosen { background: #eff6ff; color: #1e40af; }
        .icon { width: 26px; height: 32px; border-radius: 4px; background: #94a3b8; }
        .name { flex: 1; }
        .size { color: #64748b; font-size: 13px; }
        .upload { margin: 8px 18px 16px; padding: 9px 16px; border: none; border-radius: 6px; background: #2563eb; color: white; font-size: 14px; font-weight: 600; }
      `}</style>
      <div className="files">
        <h3>Shared with me</h3>
        {files.map(([name, size]) => (
          <div key={name} className={name === chosen ? 'row chosen' : 'row'}>
            <span className="icon" /><span className="name">{name}</span><span className="size">{size}</span>
          </div>
        ))}
        <button className="upload">Upload a file</button>
      </div>
    </div>
  );
}
