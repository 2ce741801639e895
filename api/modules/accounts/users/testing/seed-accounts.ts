// A team and a user of a tenant, for the tenant tests.

import type { TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'

/** Creates a team with the role, and an invited user with the role who is in it. Their views, by object type. */
export async function seedAccounts({ call, seed }: TestTenant, roleId: string): Promise<[string, Row][]> {
  const made = async (url: string, body: object): Promise<Row> => {
    const answer = await call('POST', url, body)
    if (answer.status !== 201) throw new Error(`POST ${url}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const account_memberships = [{ role_ids: [roleId] }]
  const team = await made('/v1/teams', { name: seed.unique('Team'), account_memberships })
  const username = `${seed.unique('person')}@example.com`
  const user = await made('/v1/users', { username, account_memberships, team_memberships: [{ team_id: team['id'] }] })
  return [
    ['TEAM', team],
    ['USER', user],
  ]
}
