// Reads PDFs back with another library than the one that wrote them: their text, their tags and their appearance.
import { createCanvas, DOMMatrix, type Image, ImageData, loadImage, Path2D } from '@napi-rs/canvas'

// pdf.js draws on the canvas of its host.
Object.assign(globalThis, { DOMMatrix, ImageData, Path2D })

const open = async (pdf: Buffer) => {
  const { getDocument } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  return await getDocument({ data: new Uint8Array(pdf), useSystemFonts: false, verbosity: 0 }).promise
}

export type ReadPdf = {
  readonly title: string
  readonly language: string
  /** The text of each page, from left to right and from top to bottom. */
  readonly pages: readonly string[]
  readonly text: string
  /** The roles of its tags, such as H1 and Table. */
  readonly roles: ReadonlySet<string>
}

export async function readPdf(pdf: Buffer): Promise<ReadPdf> {
  const document = await open(pdf)
  const { info } = await document.getMetadata()
  const pages: string[] = []
  const roles = new Set<string>()
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    pages.push(
      items
        .map(item => ('str' in item ? item.str : ''))
        .join(' ')
        .replace(/\s+/g, ' '),
    )
    gatherRoles(await page.getStructTree(), roles)
  }
  const { Title: title, Language: language } = info as { Title?: string; Language?: string }
  await document.destroy()
  return { title: title ?? '', language: language ?? '', pages, text: pages.join(' '), roles }
}

type Node = { readonly role: string; readonly children: readonly object[] }

function gatherRoles(node: Node | null, roles: Set<string>): void {
  if (node === null) return
  roles.add(node.role)
  for (const child of node.children) if ('role' in child) gatherRoles(child as Node, roles)
}

/** The codes of glyph 0, which a font shows for a character it lacks, in an uncompressed PDF. */
export const missingGlyphs = (pdf: Buffer): number =>
  [...pdf.toString('latin1').matchAll(/\[([^\]]*)\] TJ/g)].filter(([, shown]) => shown?.includes('<0000>')).length

/** A page as a PNG, one pixel per point. */
export async function pictureOf(pdf: Buffer, page = 1): Promise<Buffer> {
  const document = await open(pdf)
  const read = await document.getPage(page)
  const viewport = read.getViewport({ scale: 1 })
  const canvas = createCanvas(Math.ceil(viewport.width), Math.ceil(viewport.height))
  await read.render({ canvas: canvas as never, canvasContext: canvas.getContext('2d') as never, viewport }).promise
  await document.destroy()
  return canvas.toBuffer('image/png')
}

const pixelsOf = (image: Image) => {
  const canvas = createCanvas(image.width, image.height)
  const context = canvas.getContext('2d')
  context.drawImage(image, 0, 0)
  return context.getImageData(0, 0, image.width, image.height)
}

const CHANNEL_TOLERANCE = 96
const INK_MAX = 192

/** The fraction of drawn pixels that clearly differ; 1 when the sizes differ. */
export async function difference(first: Buffer, second: Buffer): Promise<number> {
  const [a, b] = (await Promise.all([loadImage(first), loadImage(second)])).map(pixelsOf)
  if (!a || !b || a.width !== b.width || a.height !== b.height) return 1
  let differing = 0
  let ink = 1
  for (let place = 0; place < a.data.length; place += 4) {
    const [here = 0, there = 0] = [a.data[place], b.data[place]]
    if (Math.min(here, there) < INK_MAX) ink++
    if (Math.abs(here - there) > CHANNEL_TOLERANCE) differing++
  }
  return differing / ink
}
