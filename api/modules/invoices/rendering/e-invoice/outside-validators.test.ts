// What others say about the files: phive with the schemas and rules of EN 16931 about UBL, Mustang about Factur-X with
// its PDF/A. They are Java: `npm run e-invoice-validators` gets them. The rules about figures are checked on every
// e-invoice without them (rules.ts).
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { renderInvoicePdf } from '../pdf/render-pdf.ts'
import { describeEInvoice } from './describe-e-invoice.ts'
import { EXAMPLES, PRESENTATION } from './testing/examples.ts'
import { writeCii, writeUbl } from './write-e-invoice.ts'

const ROOT = join(import.meta.dirname, '../../../../..')
const CLASSPATH = join(ROOT, '.tools/e-invoice-validators/classpath.txt')
const MUSTANG = join(ROOT, '.tools/e-invoice-validators/Mustang-CLI.jar')
const PROGRAM = join(ROOT, 'infra/e-invoice-validators/Validate.java')

const isHere =
  [CLASSPATH, MUSTANG].every(file => existsSync(file)) &&
  spawnSync('java', ['-version'], { stdio: 'ignore' }).status === 0
if (!isHere)
  process.stderr.write('Outside validators of e-invoices do not run: get them with `npm run e-invoice-validators`.\n')

/** Of a process that ends within seconds: one quick compiler, one thread that collects garbage, and much room before it has to. */
const JAVA_FLAGS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmn256m']

const FACTUR_X = [
  'reverse-charge',
  'several-rates',
  'credit-of-discounts',
  'self-billing',
  'credit-of-self-billing',
  'local-tax',
  'credit-of-local-tax',
]

test.runIf(isHere)('accept every e-invoice, and find what is wrong with one', { timeout: 240_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'e-invoices-'))
  try {
    const files: string[] = []
    const put = (name: string, content: string | Buffer): void => {
      const file = join(folder, name)
      writeFileSync(file, content)
      files.push(file)
    }
    for (const [name, invoice] of Object.entries(EXAMPLES)) {
      const described = describeEInvoice(invoice, PRESENTATION)
      put(`${name}.xml`, await writeUbl(described))
      if (!FACTUR_X.includes(name)) continue
      const facturX = await writeCii(described)
      put(`${name}.pdf`, await renderInvoicePdf(invoice, PRESENTATION, { facturX }))
      if (name === 'several-rates') {
        const total = '<ram:GrandTotalAmount>221.00<'
        put(
          'wrong.pdf',
          await renderInvoicePdf(invoice, PRESENTATION, {
            facturX: facturX.replace(total, total.replace('221', '222')),
          }),
        )
      }
    }
    const xml = readFileSync(join(folder, 'home-vat.xml'), 'utf8')
    put('wrong.xml', xml.replace('>121.06</cbc:TaxInclusiveAmount>', '>121.07</cbc:TaxInclusiveAmount>'))
    const classpath = readFileSync(CLASSPATH, 'utf8').trim()
    const output = execFileSync('java', [...JAVA_FLAGS, '-cp', classpath, PROGRAM, MUSTANG, ...files], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const lines = output.trim().split('\n')
    expect(lines.filter(line => !line.startsWith('wrong.')).map(line => line.slice(0, 2_000))).toEqual([
      `VALIDATED ${files.length}`,
    ])
    expect(lines.some(line => line.startsWith('wrong.xml: ') && line.includes('BR-CO-15'))).toBe(true)
    expect(lines.some(line => line.startsWith('wrong.pdf: ') && line.includes('BR-CO-15'))).toBe(true)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
