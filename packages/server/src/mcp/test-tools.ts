// Tools for the tests of suites: which are flaky, and putting one into quarantine.
import { Type } from 'typebox'
import { findOrganization, OrganizationInput } from './addresses.ts'
import { boundedPage, pageQuery, pick } from './bounded.ts'
import { isData, tool, type Tool } from './tool.ts'

const Suite = Type.String({ description: 'Slug of the test suite.' })

const inSuite = '/v2/organizations/:org/suites/:suite'

const fields = [
  'id',
  'scope',
  'name',
  'location',
  'labels',
  'state',
  'quarantine',
  'reliability',
  'executions_count_by_result',
  'last_failed_on',
  'web_url',
]

const listKnownTests = tool({
  name: 'list_tests',
  title: 'List tests',
  description: `Lists the tests of a suite that ran in the last 7 days, those that pass least often first. ${isData}`,
  input: Type.Object({
    ...OrganizationInput,
    suite: Suite,
    label: Type.Optional(Type.String({ description: 'Tests with this label, such as `flaky`.' })),
    search: Type.Optional(Type.String({ description: 'Part of scope, name or location.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
  }),
  routes: [`GET ${inSuite}/tests`],
  async run(desk, given) {
    const org = await findOrganization(desk, given.organization)
    const { body, headers } = await desk.call(`GET ${inSuite}/tests`, {
      params: { org, suite: given.suite },
      query: {
        ...pageQuery(given),
        sort_by: 'reliability',
        order: 'asc',
        ...(given.label === undefined ? {} : { label: given.label }),
        ...(given.search === undefined ? {} : { search: given.search }),
      },
    })
    return boundedPage(
      'tests',
      (body as unknown[]).map((one) => pick(one, fields)),
      headers,
      given,
    )
  },
})

const Address = {
  ...OrganizationInput,
  suite: Suite,
  test: Type.String({ description: 'UUID of the test.' }),
}

const Quarantine = Type.Object({
  ...Address,
  reason: Type.String({ minLength: 1, maxLength: 1000, description: 'Why the test does not count for now.' }),
  expires_at: Type.Optional(
    Type.String({ description: 'When the test is enabled again, ISO 8601. Default: in 14 days.' }),
  ),
})

const quarantineTool = (verb: 'mute' | 'skip', name: string, title: string, description: string) =>
  tool({
    name,
    title,
    description,
    input: Quarantine,
    routes: [`PUT ${inSuite}/tests/:test/${verb}`],
    writes: true,
    async run(desk, { organization, suite, test, ...body }) {
      const org = await findOrganization(desk, organization)
      const answer = await desk.call(`PUT ${inSuite}/tests/:test/${verb}`, {
        params: { org, suite, test },
        body,
      })
      return pick(answer.body, fields)
    },
  })

const enableTest = tool({
  name: 'enable_test',
  title: 'Enable a test',
  description: 'Enables a muted or skipped test.',
  input: Type.Object(Address),
  routes: [`PUT ${inSuite}/tests/:test/enable`],
  writes: true,
  async run(desk, { organization, suite, test }) {
    const org = await findOrganization(desk, organization)
    const { body } = await desk.call(`PUT ${inSuite}/tests/:test/enable`, { params: { org, suite, test } })
    return pick(body, fields)
  },
})

export const testTools: readonly Tool[] = [
  listKnownTests,
  quarantineTool(
    'mute',
    'mute_test',
    'Mute a test',
    'Mutes a test of a suite: it runs, and its failures do not count.',
  ),
  quarantineTool('skip', 'skip_test', 'Skip a test', 'Says that a test of a suite is not to run.'),
  enableTest,
]
