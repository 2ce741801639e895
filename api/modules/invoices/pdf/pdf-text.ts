// Reads the text of an uncompressed PDF back, for tests: each font's glyphs by its ToUnicode map, in drawing order.

/** The text of every show operator, in order. The pieces of one operator are joined; operators are separated by a space. */
export function pdfText(pdf: Buffer): string {
  const source = pdf.toString('latin1')
  const objects = new Map(
    [...source.matchAll(/\n(\d+) 0 obj\n([\s\S]*?)\nendobj/g)].map(match => [match[1] ?? '', match[2] ?? '']),
  )
  const fonts = new Map<string, Map<string, string>>()
  for (const [, name, id] of source.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
    const map = /\/ToUnicode (\d+) 0 R/.exec(objects.get(id ?? '') ?? '')?.[1]
    if (name && map) fonts.set(name, glyphs(objects.get(map) ?? ''))
  }
  const shown: string[] = []
  let font = new Map<string, string>()
  for (const [, name, text] of source.matchAll(/\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ/g)) {
    if (name) font = fonts.get(name) ?? new Map()
    else shown.push([...(text ?? '').matchAll(/<([0-9a-f]*)>/g)].map(([, hex]) => decode(hex ?? '', font)).join(''))
  }
  return shown.join(' ').replace(/ +/g, ' ')
}

const decode = (hex: string, font: ReadonlyMap<string, string>): string =>
  (hex.match(/.{4}/g) ?? []).map(code => font.get(code) ?? '').join('')

function glyphs(cmap: string): Map<string, string> {
  const map = new Map<string, string>()
  for (const [, from, , list] of cmap.matchAll(/<([0-9a-f]{4})> <([0-9a-f]{4})> \[([^\]]*)\]/g)) {
    for (const [index, [, code]] of [...(list ?? '').matchAll(/<([0-9a-f ]+)>/g)].entries()) {
      const glyph = (Number.parseInt(from ?? '0', 16) + index).toString(16).padStart(4, '0')
      map.set(
        glyph,
        Buffer.from((code ?? '').replaceAll(' ', ''), 'hex')
          .swap16()
          .toString('utf16le'),
      )
    }
  }
  return map
}
