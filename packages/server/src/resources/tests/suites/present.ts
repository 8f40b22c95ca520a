import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import { presentUserOrNull } from '../../people/user/present.ts'
import type { SuiteRow } from './queries.ts'
import type { Suite } from './schema.ts'

export const suiteUrl = (url: string, orgSlug: string, slug: string): string =>
  `${url}/v2/organizations/${orgSlug}/suites/${slug}`

export const testUrl = (url: string, orgSlug: string, suiteSlug: string, id: string): string =>
  `${suiteUrl(url, orgSlug, suiteSlug)}/tests/${id}`

/** The page of the suite. */
export const suiteWebUrl = (url: string, orgSlug: string, slug: string): string =>
  `${url}/organizations/${orgSlug}/analytics/suites/${slug}`

export const testWebUrl = (url: string, orgSlug: string, suiteSlug: string, id: string): string =>
  `${suiteWebUrl(url, orgSlug, suiteSlug)}/tests/${id}`

export const presentSuite = (url: string, orgSlug: string, suite: SuiteRow): Static<typeof Suite> => ({
  id: suite.id,
  graphql_id: graphqlId('Suite', suite.id),
  organization_id: suite.organization_id,
  slug: suite.slug,
  name: suite.name,
  url: suiteUrl(url, orgSlug, suite.slug),
  web_url: suiteWebUrl(url, orgSlug, suite.slug),
  default_branch: suite.default_branch,
  emoji: suite.emoji,
  color: suite.color,
  application_name: suite.application_name,
  oidc_policy: null,
  flaky_on_same_commit: suite.flaky_on_same_commit,
  flaky_transitions: suite.flaky_transitions,
  flaky_window: suite.flaky_window,
  flaky_clear_days: suite.flaky_clear_days,
  flaky_clear_executions: suite.flaky_clear_executions,
  quarantine_rule: suite.quarantine_rule,
  quarantine_days: suite.quarantine_days,
  created_at: suite.created_at,
  created_by: presentUserOrNull(url, suite.created_by),
})

export const presentViewer = ({ may_manage: manage, may_quarantine: quarantine }: SuiteRow) => ({
  viewer: { may: { manage, quarantine } },
})
