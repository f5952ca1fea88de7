// width=560 height=200
const tiles: ReadonlyArray<[string, string, string]> = [
  ['Revenue', '$48,120', '+12 %'],
  ['Orders', '1,204', '+3 %'],
  ['Refunds', '18', '-7 %'],
];

export default function StatTiles() {
  return (
    <div className="grid grid-cols-3 gap-4 p-6">
      {tiles.map(([label, value, change]) => (
        <div key={label} className="rounded-lg bg-slate-100 p-4">
          <p className="text-xs uppercase tracking-wide text-slate-500">{label}</p>
          <p className="mt-2 text-2xl font-bold text-slate-900">{value}</p>
          <p className="mt-1 text-sm text-emerald-700">{change}</p>
        </div>
      ))}
    </div>
  );
}
