// width=420 height=340
const rows: [number, number][] = [[5, 64], [4, 21], [3, 9], [2, 4], [1, 2]];

export default function RatingPanel() {
  return (
    <aside className="m-5 border border-amber-200 bg-amber-50 p-5">
      <p className="text-xs uppercase tracking-wide text-amber-700">Reviews</p>
      <div className="mt-1 flex items-baseline gap-2">
        <strong className="text-4xl text-amber-950">4.4</strong>
        <span className="text-sm text-amber-800">of 1,208 buyers</span>
      </div>
      <div className="mt-4 flex flex-col gap-2">
        {rows.map(([stars, share]) => (
          <div key={stars} className="flex items-center gap-3 text-sm text-amber-900">
            <span className="w-4">{stars}</span>
            <div className="h-2 flex-1 rounded-full bg-amber-200">
              <div className="h-2 rounded-full bg-amber-500" style={{ width: `${share}%` }} />
            </div>
            <span className="w-10 text-right">{share}%</span>
          </div>
        ))}
      </div>
      <a className="mt-4 inline-block text-sm font-medium text-amber-800 underline" href="#">Read them all</a>
    </aside>
  );
}
