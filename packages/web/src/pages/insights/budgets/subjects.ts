// What a budget may be for, as it is typed: a name, or the last word of an address.
import { call } from '../../../api/call.ts'
import { teamsQuery } from '../../teams/queries.ts'

export type SubjectKind = 'pipeline' | 'team'

interface Subject {
  id: string
  slug: string
  name: string
}

const pipelines = '/v2/organizations/{org}/pipelines'

export const subjectsKey = (org: string, kind: SubjectKind, text: string) =>
  ['subjects of budgets', org, kind, text] as const

/** The first ones with the text in their name. */
export async function findSubjects(
  org: string,
  kind: SubjectKind,
  text: string,
  signal: AbortSignal,
): Promise<Subject[]> {
  if (kind === 'pipeline') {
    const query = { per_page: 100, ...(text === '' ? {} : { name: text }) }
    return call(`GET ${pipelines}`, { params: { org }, query, signal })
  }
  const wanted = text.toLowerCase()
  const teams = await teamsQuery(org).queryFn({ signal })
  return teams.filter(({ name, slug }) => name.toLowerCase().includes(wanted) || slug === wanted)
}

export async function findSubjectId(org: string, kind: SubjectKind, text: string): Promise<string> {
  const found = await findSubjects(org, kind, text, new AbortController().signal)
  const isNamed = ({ name }: Subject) => name.toLowerCase() === text.toLowerCase()
  const subject = found.find(({ slug }) => slug === text) ?? found.find(isNamed)
  if (subject !== undefined) return subject.id
  if (kind === 'team') throw new Error('No team found')
  return (await call(`GET ${pipelines}/{pipeline}`, { params: { org, pipeline: text } })).id
}
