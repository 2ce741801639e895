// Reads what a broker asked of the system, as `strace -f -y` wrote it down, and tells which messages it acknowledged before
// they were on the disk. Pure. Times are the order of the lines.

/** One acknowledged message: its text as published, and the sequence and stream of its ack. */
export type Published = { readonly text: string; readonly stream: string; readonly seq: number }
export type SyncAudit = { readonly acked: number; readonly faults: readonly string[] }

const UNFINISHED = ' <unfinished ...>'
const LINE = /^(\d+)\s+(.*)$/
const RESUMED = /^<\.\.\. (\w+) resumed>/
const CALL = /^(\w+)\(\d+<([^>]*)>(.*)$/
const ACK = /\\"stream\\":\\"(\w+)\\",\\"seq\\":(\d+)/g
const WRITES = new Set(['write', 'writev', 'pwrite64', 'pwritev'])
const SYNCS = new Set(['fsync', 'fdatasync'])

type Call = { readonly name: string; readonly path: string; readonly rest: string }

/** `published` says which texts to look for; every one must be written, then synced, then acknowledged, in this order. */
export function auditSyncs(trace: string, published: readonly Published[]): SyncAudit {
  const texts = new Map(published.map(each => [`${each.stream} ${each.seq}`, each.text]))
  const marks = published.map(each => each.text)
  const begun = new Map<string, { call: Call; covers: readonly string[] }>()
  /** By file: what was written to it and is not synced yet. */
  const dirty = new Map<string, Set<string>>()
  const synced = new Set<string>()
  const acked = new Set<string>()
  const faults: string[] = []

  const finish = ({ call, covers }: { call: Call; covers: readonly string[] }): void => {
    if (WRITES.has(call.name)) {
      const files = dirty.get(call.path) ?? new Set()
      dirty.set(call.path, files)
      for (const text of marks) if (call.rest.includes(text)) files.add(text)
    }
    for (const text of covers) {
      synced.add(text)
      dirty.get(call.path)?.delete(text)
    }
  }
  const acknowledge = (call: Call): void => {
    for (const [, stream, seq] of call.rest.matchAll(ACK)) {
      const text = texts.get(`${stream} ${seq}`)
      if (text === undefined) continue
      acked.add(text)
      if (!synced.has(text)) faults.push(`${text} (${stream} ${seq}) was acknowledged before it was synced`)
    }
  }

  for (const line of trace.split('\n')) {
    const [, pid = '', body = ''] = LINE.exec(line) ?? []
    if (RESUMED.test(body)) {
      const waiting = begun.get(pid)
      begun.delete(pid)
      if (waiting) finish(waiting)
      continue
    }
    const [, name = '', path = '', rest = ''] = CALL.exec(body) ?? []
    const call = { name, path, rest }
    // A sync covers what was written before it began; an ack is out as soon as its write begins.
    const covers = SYNCS.has(name) ? [...(dirty.get(path) ?? [])] : []
    if (path.startsWith('socket:') || path.startsWith('TCP:')) acknowledge(call)
    else if (body.endsWith(UNFINISHED)) begun.set(pid, { call, covers })
    else finish({ call, covers })
  }
  for (const each of published) if (!acked.has(each.text)) faults.push(`${each.text} has no ack in the trace`)
  return { acked: acked.size, faults }
}
