// PDFKit writes the title and the author into the XML of the metadata as they are, so a name with an ampersand would
// make it unreadable.

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escaped = (text: string): string => text.replace(/[&<>]/g, character => ESCAPES[character] ?? '')

type Inside = { info: Record<string, unknown>; _addInfo(): void }

/** Escapes what `document` says about itself in the XML, and only there. */
export function escapeMetadata(document: PDFKit.PDFDocument): void {
  const inside = document as unknown as Inside
  const add = inside._addInfo.bind(document)
  inside._addInfo = () => {
    const { info } = inside
    inside.info = Object.fromEntries(
      Object.entries(info).map(([name, value]) => [
        name,
        typeof value === 'string' || value instanceof String ? escaped(`${value}`) : value,
      ]),
    )
    add()
    inside.info = info
  }
}
