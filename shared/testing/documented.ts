// What tests need to run the programs of the documentation as they stand there.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../infra/services/project.ts'

/** Whether this machine has `program`; where it does not, the run says aloud what it skips. */
export const canRun = (program: string, ...args: string[]): boolean => {
  const found = spawnSync(program, args).status === 0
  if (!found) process.stdout.write(`SKIPPED: what the documentation runs with ${program}, which is not here.\n`)
  return found
}

/** Every block of the page in this language, and what it says it prints. */
export function blocksOf(page: string, language: string): string[] {
  const blocks = readFileSync(join(PROJECT_ROOT, page), 'utf8').matchAll(/```(\w+)\n([\s\S]*?)```/g)
  return [...blocks].flatMap(([, found, text = '']) => (found === language ? [text] : []))
}
