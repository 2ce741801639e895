// The dashboard and the alert rules ask only for what the running processes export, and every alert has its runbook.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { insertMeter } from '../../bench/setup.ts'
import { createSender } from '../../bench/system/client.ts'
import { createLedger } from '../../bench/system/ledger.ts'
import { randomEvent } from '../../bench/system/load.ts'
import { randomFrom } from '../../bench/system/random.ts'
import { type System, startSystem } from '../../bench/system/start-system.ts'
import { PROJECT_ROOT } from '../services/project.ts'
import { PROCESSES } from '../start/processes.ts'
import type { ProcessName } from '../start/settings.ts'

const read = (...path: string[]): string => readFileSync(join(PROJECT_ROOT, ...path), 'utf8')

type Panel = { readonly id: number; readonly title: string; readonly gridPos: Grid; readonly targets?: Target[] }
type Grid = { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
type Target = { readonly refId: string; readonly expr: string }
const dashboard = JSON.parse(read('infra', 'observability', 'grafana-dashboard.json')) as { panels: Panel[] }
const rules = read('infra', 'observability', 'prometheus-rules.yml')
const alerts = [...rules.matchAll(/- alert: (\w+)\n\s+expr: (.+)\n[\s\S]*?runbook_url: (\S+)/g)].map(
  ([, name = '', expr = '', runbook = '']) => ({ name, expr, runbook }),
)
const expressions = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ from: title, expr }))),
  ...alerts.map(({ name, expr }) => ({ from: name, expr })),
]

let system: System
/** Metrics by name, with their type and the labels their series have. */
const exported = new Map<string, { type: string; labels: Set<string> }>()
/** `up` is Prometheus's own; job and instance are what it adds to every series. */
const ADDED_LABELS = ['job', 'instance']

beforeAll(async () => {
  system = await startSystem({ processes: PROCESSES.map(({ name }) => name) })
  const [{ id, environments }] = system.platforms
  await insertMeter(system.databaseUrl, id)
  const sender = createSender({ url: system.ingestUrl, apiKey: environments.LIVE.api_key, ledger: createLedger() })
  const event = randomEvent(randomFrom(1), 'measured')
  await sender.send([event])
  // Refused, so that the code has a series.
  await fetch(`${system.ingestUrl}/v1/events/ingest`, { method: 'POST', body: '{}' })
  await sender.close()
  const stored = async () => expect(await scrape('aggregator')).toContain('outcome="kept"')
  await vi.waitFor(stored, { timeout: 60_000, interval: 500 })
  for (const { name } of PROCESSES) note(await scrape(name))
}, 180_000)
afterAll(() => system?.stop())

async function scrape(name: ProcessName): Promise<string> {
  const response = await fetch(`${system.metricsUrl(name)}/metrics`)
  expect(response.status).toBe(200)
  return response.text()
}

function note(text: string): void {
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    for (const series of type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
      exported.set(name + series, exported.get(name + series) ?? { type, labels: new Set() })
  }
  for (const [, name = '', list = ''] of text.matchAll(/^(\w+)\{([^}]*)\}/gm))
    for (const [, label = ''] of list.matchAll(/(\w+)="/g)) exported.get(name)?.labels.add(label)
}

/** Names of metrics in an expression: what is neither a function, a keyword, a label nor text. */
const namesIn = (expr: string): string[] =>
  [...expr.replaceAll(/"[^"]*"/g, '').matchAll(/\b(?:millrace|process|nodejs)_\w+/g)].map(([name]) => name)

test('there are a dashboard and rules to check', () => {
  expect(expressions.length).toBeGreaterThan(40)
  expect(alerts.length).toBe([...rules.matchAll(/- alert:/g)].length)
  for (const { from, expr } of expressions) {
    const known = namesIn(expr).length > 0 || expr.includes('up{')
    expect(known, `${from} asks for no metric: ${expr}`).toBe(true)
    expect([...expr].filter(each => each === '(').length, expr).toBe([...expr].filter(each => each === ')').length)
  }
})

test('every metric they name is exported by a running process', () => {
  const missing = expressions.flatMap(({ from, expr }) =>
    namesIn(expr)
      .filter(name => !exported.has(name))
      .map(name => `${from}: ${name}`),
  )
  expect(missing).toEqual([])
})

test('every label they choose by is one the metric has', () => {
  // What has not happened yet, a billing run, has no series to look at.
  const has = (name: string, label: string): boolean => {
    const labels = exported.get(name)?.labels
    return ADDED_LABELS.includes(label) || labels === undefined || labels.size === 0 || labels.has(label)
  }
  const wrong = expressions.flatMap(({ from, expr }) =>
    [...expr.matchAll(/(\w+)\{([^}]*)\}/g)].flatMap(([, name = '', list = '']) =>
      [...list.matchAll(/(\w+)\s*[=!]/g)]
        .map(([, label = '']) => label)
        .filter(label => !has(name, label))
        .map(label => `${from}: ${name}{${label}}`),
    ),
  )
  expect(wrong).toEqual([])
})

test('rates and increases are asked of counters, and gauges are not', () => {
  const wrong = expressions.flatMap(({ from, expr }) =>
    [...expr.matchAll(/(?:rate|increase)\((\w+)/g)]
      .map(([, name = '']) => name)
      .filter(name => exported.get(name)?.type === 'gauge')
      .map(name => `${from}: ${name}`),
  )
  expect(wrong).toEqual([])
})

test('every alert has a runbook where it says', () => {
  const headings = [...read('docs', 'operating.md').matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => text.toLowerCase())
  for (const { name, runbook } of alerts) {
    expect(runbook).toBe(`docs/operating.md#${name.toLowerCase()}`)
    expect(headings).toContain(name.toLowerCase())
  }
})

test('panels have ids of their own and do not lie on each other', () => {
  const { panels } = dashboard
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
})
