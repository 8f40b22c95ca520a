import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import { presentUserOrNull } from '../../people/user/present.ts'
import type { SuiteRow } from './queries.ts'
import type { Suite } from './schema.ts'

export const suiteUrl = (url: string, orgSlug: string, slug: string): string =>
  `${url}/v2/organizations/${orgSlug}/suites/${slug}`

export const testUrl = (url: string, orgSlug: string, suiteSlug: string, id: string): string =>
  `${suiteUrl(url, orgSlug, suiteSlug)}/tests/${id}`

export const presentSuite = (url: string, orgSlug: string, suite: SuiteRow): Static<typeof Suite> => ({
  id: suite.id,
  graphql_id: graphqlId('Suite', suite.id),
  slug: suite.slug,
  name: suite.name,
  url: suiteUrl(url, orgSlug, suite.slug),
  default_branch: suite.default_branch,
  emoji: suite.emoji,
  color: suite.color,
  application_name: suite.application_name,
  created_at: suite.created_at,
  created_by: presentUserOrNull(url, suite.created_by),
})
