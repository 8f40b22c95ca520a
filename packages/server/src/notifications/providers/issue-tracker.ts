// Opens an issue when a branch begins to fail and closes it when the branch is fixed, in a tracker that a person has
// connected. Each branch of a pipeline has at most one open issue.
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { v4 } from 'uuid'
import { isUuid } from '../../lib/ids.ts'
import { branchQueue, type Message } from '../messages/message.ts'
import type { BuildStateName } from '../names.ts'
import { DeliveryFailed, type Delivery, type OAuthSession, type Provider, type Sender } from '../provider.ts'
import { readable } from '../messages/readable.ts'
import { issueText } from './issue-text.ts'
import { connectedFields } from './schemas.ts'
import { askTracker, TrackerRefused } from './tracker-api.ts'

export const issueTracker: Provider = {
  id: 'issue_tracker',
  name: 'Issue Tracker',
  graphqlType: null,
  madeBy: 'web',
  isPinged: false,
  summary: 'An issue for each branch that fails, closed when the branch is fixed.',
  selectsBy: 'build_states',
  fields: connectedFields({
    team_id: {
      label: 'Team',
      schema: Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Must be the id or the key of a team.',
        examples: ['ENG'],
      }),
      isRequired: true,
      shown: 'full',
    },
  }),
  connecting: {
    choice: { key: 'team_id', label: 'Team', hint: 'ENG' },
    buildStates: ['build_failed', 'build_fixed'],
    async readSettings(session, team) {
      const { organization } = await askTracker<{ organization: { id: string; name: string } }>(
        session,
        'query { organization { id name } }',
        {},
      )
      const { id } = await findTeam(session, team)
      return { workspace_id: organization.id, workspace_name: organization.name, team_id: id }
    },
  },
}

const opening: readonly BuildStateName[] = ['build_failed', 'build_failing']
const closing: readonly BuildStateName[] = ['build_fixed', 'build_passed']
const isOneOf = (states: readonly BuildStateName[], message: Pick<Message, 'states'>) =>
  message.states.some((state) => states.includes(state))

export const issueTrackerSender: Sender = {
  wants: ({ buildStates }, { states }) =>
    states.some((state) => [...opening, ...closing].includes(state) && buildStates.includes(state)),
  queue: branchQueue,
  async deliver(delivery) {
    const { message, state } = delivery
    if (message.build === undefined) return checkAccess(delivery)
    const branch = branchQueue(message)
    const open = (await state.find(branch)) as OpenIssue | null
    if (isOneOf(closing, message)) {
      if (open !== null) await closeIssue(delivery, open)
      state.keep(branch, null)
    } else if (open === null) {
      state.keep(branch, await openIssue(delivery))
    }
  },
}

interface OpenIssue {
  issue_id: string
}

/** A test checks the token and the team, since more would create an issue. */
const checkAccess = async ({ openSession, service }: Delivery): Promise<void> => {
  await findTeam(openSession(), teamOf(service))
}

const teamOf = ({ settings }: Delivery['service']) => String(settings['team_id'])

async function openIssue({ id: deliveryId, message, service, openSession }: Delivery): Promise<OpenIssue> {
  const session = openSession()
  const team = await findTeam(session, teamOf(service))
  const id = issueIdOf(deliveryId)
  const input = { id, teamId: team.id, ...issueText(readable(message)) }
  try {
    await askTracker(session, createQuery, { input }, deliveryId)
  } catch (error) {
    // An earlier attempt whose response was lost has created the issue.
    if (!(error instanceof TrackerRefused) || (await findIssue(session, id)) === null) throw error
  }
  return { issue_id: id }
}

/** The same for every attempt, so that one failure opens one issue. */
const issueIdOf = (deliveryId: string): string =>
  v4({ random: createHash('sha256').update(`issue ${deliveryId}`).digest().subarray(0, 16) })

/** An issue that somebody has closed or deleted is left alone. */
async function closeIssue(
  { id, message, openSession }: Delivery,
  { issue_id: issueId }: OpenIssue,
): Promise<void> {
  const session = openSession()
  const issue = await findIssue(session, issueId)
  if (issue === null || ['completed', 'canceled'].includes(issue.state.type)) return
  const [done] = issue.team.states.nodes.toSorted((a, b) => a.position - b.position)
  if (done === undefined) {
    throw new DeliveryFailed('The team has no state for issues that are done.', { isFinal: true })
  }
  const body = `Fixed by ${String(message.build?.['web_url'])}`
  await askTracker(session, closeQuery, { issueId, stateId: done.id, body }, id)
}

const createQuery = `mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { success } }`

const closeQuery = `mutation ($issueId: String!, $stateId: String!, $body: String!) {
  issueUpdate(id: $issueId, input: { stateId: $stateId }) { success }
  commentCreate(input: { issueId: $issueId, body: $body }) { success }
}`

interface Issue {
  state: { type: string }
  team: { states: { nodes: ReadonlyArray<{ id: string; position: number }> } }
}

const issueQuery = `query ($id: ID!) {
  issues(filter: { id: { eq: $id } }, first: 1) {
    nodes { state { type } team { states(filter: { type: { eq: "completed" } }) { nodes { id position } } } }
  }
}`

async function findIssue(session: OAuthSession, id: string): Promise<Issue | null> {
  const { issues } = await askTracker<{ issues: { nodes: Issue[] } }>(session, issueQuery, { id })
  return issues.nodes[0] ?? null
}

const teamQuery = (by: 'id' | 'key') => `query ($team: ${by === 'id' ? 'ID' : 'String'}!) {
  teams(filter: { ${by}: { eq: $team } }, first: 1) { nodes { id } }
}`

async function findTeam(session: OAuthSession, team: string): Promise<{ id: string }> {
  const isId = isUuid(team)
  const { teams } = await askTracker<{ teams: { nodes: Array<{ id: string }> } }>(
    session,
    teamQuery(isId ? 'id' : 'key'),
    { team: isId ? team : team.toUpperCase() },
  )
  const [found] = teams.nodes
  if (found === undefined) {
    throw new DeliveryFailed(`The issue tracker has no team ${team}, or does not let us see it.`, {
      isFinal: true,
    })
  }
  return found
}
