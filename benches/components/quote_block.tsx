// width=440 height=240
interface QuoteProps { text: string; by: string; tags?: string[] }

function Quote({ text, by, tags = [] }: QuoteProps) {
  return (
    <figure style={{ margin: 24, padding: '16px 20px', borderLeft: '4px solid #7c3aed', background: '#faf5ff', fontFamily: 'serif' }}>
      <blockquote style={{ margin: 0, fontSize: 18, lineHeight: '26px', color: '#3b0764' }}>{text}</blockquote>
      <figcaption style={{ marginTop: 12, fontSize: 14, color: '#6d28d9' }}>{by}</figcaption>
      <p style={{ display: 'flex', gap: 8, margin: '14px 0 0' }}>
        {tags.map((tag) => <span key={tag} style={{ padding: '2px 8px', border: '1px solid #c4b5fd', borderRadius: 999, fontSize: 12, color: '#5b21b6' }}>{tag}</span>)}
      </p>
    </figure>
  );
}

export default () => <Quote text="Measure twice, and let a program hold the ruler." by="A carpenter" tags={['craft', 'tools']} />;
