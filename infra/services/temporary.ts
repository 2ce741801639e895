// Folders for data that need not last: tests and benchmarks.
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A new folder under the system's temporary one. Others may pass through it but not list it: started by root, PostgreSQL
 * runs as another user and has to reach its own folder inside.
 */
export function temporaryFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  chmodSync(folder, 0o711)
  return folder
}
