// PostgreSQL refuses to run as root. Started by root, it runs as another user, who must be able to reach its files.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Progress } from './child.ts'

const run = promisify(execFile)

export type SystemUser = { readonly name: string; readonly uid: number; readonly gid: number }

const OWN_USER = 'millrace'

async function findUser(name: string): Promise<SystemUser | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
    return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    // `id` fails for a user that does not exist, which is the answer.
    return null
  }
}

/** The user to run PostgreSQL as: null (ourselves) unless we are root. Makes a system user when there is none to use. */
export async function postgresUser(log: Progress): Promise<SystemUser | null> {
  if (process.getuid?.() !== 0) return null
  const existing = (await findUser('postgres')) ?? (await findUser(OWN_USER))
  if (existing) return existing
  try {
    await run('useradd', ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', OWN_USER])
    log(`PostgreSQL does not run as root; made the system user ${OWN_USER} for it`)
  } catch {
    // No useradd here, or it may not: `nobody` is the last user to try.
  }
  const made = (await findUser(OWN_USER)) ?? (await findUser('nobody'))
  if (!made) throw new Error('PostgreSQL does not run as root, and this system has no other user; set DATABASE_URL')
  return made
}

/** Whether `user` (null: ourselves) can run this command to a good end. */
export async function canRun(user: SystemUser | null, command: string, args: readonly string[]): Promise<boolean> {
  try {
    await run(command, args, { cwd: '/', ...(user ? { uid: user.uid, gid: user.gid } : {}) })
    return true
  } catch {
    // Whatever the reason (a closed folder above it, a missing library), the caller takes another way.
    return false
  }
}
