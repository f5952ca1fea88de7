// width=420 height=280
interface Member { name: string; role: string; tone: string }

const members: Member[] = [
  { name: 'Ada Nwosu', role: 'Owner', tone: 'bg-emerald-100 text-emerald-800' },
  { name: 'Bo Lindqvist', role: 'Editor', tone: 'bg-sky-100 text-sky-800' },
  { name: 'Chiara Rossi', role: 'Viewer', tone: 'bg-slate-100 text-slate-700' },
];

const Row = ({ name, role, tone }: Member) => (
  <li className="flex items-center justify-between px-4 py-3">
    <span className="text-sm font-medium text-slate-900">{name}</span>
    <span className={`rounded-full px-2 py-1 text-xs ${tone}`}>{role}</span>
  </li>
);

export const MemberList = () => (
  <div className="m-5 rounded-lg border border-slate-300 bg-white">
    <header className="border-b border-slate-200 px-4 py-3 text-base font-semibold text-slate-900">Members</header>
    <ul className="divide-y divide-slate-100">{members.map((member) => <Row key={member.name} {...member} />)}</ul>
  </div>
);
