// width=520 height=260
const days = [
  { day: 'Mon', high: 18, low: 9, rain: '10%' },
  { day: 'Tue', high: 21, low: 11, rain: '0%' },
  { day: 'Wed', high: 16, low: 10, rain: '60%' },
  { day: 'Thu', high: 14, low: 8, rain: '80%' },
];

export default function WeatherWeek() {
  return (
    <div className="bg-sky-50 p-6">
      <div className="flex items-end justify-between">
        <h2 className="text-xl font-bold text-sky-950">Bergen</h2>
        <span className="text-sm text-sky-700">this week</span>
      </div>
      <div className="mt-5 grid grid-cols-4 gap-3">
        {days.map((entry) => (
          <div key={entry.day} className="rounded-lg bg-white p-3 text-center shadow">
            <div className="text-sm font-semibold text-slate-600">{entry.day}</div>
            <div className="mt-2 text-2xl text-slate-900">{entry.high}</div>
            <div className="text-sm text-slate-400">{entry.low}</div>
            <div className="mt-2 rounded bg-sky-100 py-1 text-xs text-sky-800">{entry.rain}</div>
          </div>
        ))}
      </div>
    </div>
  );
}
