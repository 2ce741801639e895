// Draws twenty documents and compares them with stored pictures. `UPDATE_PICTURES=1` stores new ones; check them before
// you commit them.
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderInvoicePdf } from './pdf/render-pdf.ts'
import { exampleDocument } from './testing/example-document.ts'
import { FIXTURES } from './testing/fixtures.ts'
import { difference, missingGlyphs, pictureOf, readPdf } from './testing/read-pdf.ts'

/** Edges of letters differ slightly between versions of the canvas. */
const DIFFERENCE_MAX = 0.02

const pictureFile = (name: string) => new URL(`./pictures/${name}.png`, import.meta.url)

test('there are twenty', () => {
  expect(Object.keys(FIXTURES)).toHaveLength(20)
})

test.each(Object.entries(FIXTURES))('%s equals its stored picture, and lacks no glyph', async (name, fixture) => {
  const pdf = await renderInvoicePdf(exampleDocument(fixture), fixture.presentation, { compress: false })
  expect(missingGlyphs(pdf)).toBe(0)
  expect((await readPdf(pdf)).text).not.toContain('\ufffd')
  const picture = await pictureOf(pdf, fixture.page)
  if (process.env['UPDATE_PICTURES']) writeFileSync(pictureFile(name), picture)
  expect(await difference(picture, readFileSync(pictureFile(name)))).toBeLessThan(DIFFERENCE_MAX)
})

test('a picture that differs is found', async () => {
  const [greek, korean] = ['greek', 'korean'].map(name => readFileSync(pictureFile(name)))
  expect(await difference(greek ?? Buffer.alloc(0), korean ?? Buffer.alloc(0))).toBeGreaterThan(DIFFERENCE_MAX)
})
