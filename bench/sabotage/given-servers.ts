// The servers of the run that started this one.
import type { TestProject } from 'vitest/node'
import type {} from '../../shared/testing/global-setup.ts'

export default function setup(project: TestProject): void {
  project.provide('databaseUrl', process.env['SABOTAGE_DATABASE_URL'] ?? '')
  project.provide('databaseTemplate', process.env['SABOTAGE_DATABASE_TEMPLATE'] ?? '')
}
