// The way from the organization to what the page shows. Names come from the queries of the pages, so nothing is asked twice.
import { useQuery } from '@tanstack/react-query'
import { useLocation, useParams } from '@tanstack/react-router'
import {
  agentImageQuery,
  agentQuery,
  clusterQuery,
  pipelineQuery,
  queueQuery,
  serviceName,
  serviceQuery,
  suiteQuery,
  teamQuery,
  templateQuery,
  testName,
  testQuery,
} from '../api/resource-queries.ts'
import { clusterPages } from './cluster-pages.ts'
import { findPipelineSettings } from './pipeline-settings-pages.ts'
import { settingsPages } from './settings-pages.ts'

interface Crumb {
  name: string
  to: string
  /** Lies between a thing and a page of it, and says no more than that page. */
  isBetween?: true
}

/** The last ones, for a phone: what the page shows, and what that belongs to. */
export const lastCrumbs = (crumbs: readonly Crumb[]): Crumb[] =>
  crumbs.filter(({ isBetween }, index) => isBetween !== true || index === crumbs.length - 1).slice(-2)

/** Those behind the organization. */
export function useCrumbs(): Crumb[] {
  const { pathname } = useLocation()
  const {
    org = '',
    pipeline,
    number,
    cluster,
    queue,
    agent,
    image,
    team,
    service,
    delivery,
    suite,
    template,
    test,
  } = useParams({ strict: false })
  const [, first, , area = '', page = ''] = pathname.split('/')
  const inOrganization = first === 'organizations' || first === '-'
  // An address without a page may look like that of a pipeline.
  const inPipeline = usePipelineCrumb(org, inOrganization ? undefined : pipeline)
  const inCluster = useClusterCrumbs(org, cluster, queue, agent)
  const imageName = useImageName(org, cluster, image)
  const teamName = useTeamName(org, team)
  const ofService = useServiceCrumbs(org, service, delivery)
  const suiteName = useSuiteName(org, suite)
  const templateName = useTemplateName(org, template)
  const nameOfTest = useTestName(org, suite, test)
  const here = (name: string): Crumb => ({ name, to: pathname })
  if (first === '-') return personCrumbs(pathname)
  if (first === 'organizations') {
    if (area === 'settings')
      return settingsCrumbs(org, page, team === undefined ? ofService : [here(teamName)])
    if (inCluster.length > 0)
      return [...inCluster, ...clusterPageCrumbs(pathname), ...(image === undefined ? [] : [here(imageName)])]
    if (area === 'analytics') {
      const isOfSettings = suite !== undefined && pathname.endsWith(`/${suite}/settings`)
      const ofTest = test === undefined ? [] : [here(nameOfTest)]
      return testCrumbs(org, suite, suiteName, isOfSettings ? [here('Settings')] : ofTest)
    }
    if (template !== undefined) return settingsCrumbs(org, 'templates', [here(templateName)])
    const title = titles[`${area}/${page}`] ?? titles[area]
    return title === undefined ? [] : [here(title)]
  }
  if (inPipeline === null) return []
  if (number !== undefined) return [inPipeline, here(`#${number}`)]
  if (area === 'archived_builds') return [inPipeline, here('Archived builds')]
  return area === 'settings' ? [inPipeline, ...pipelineSettingsCrumbs(inPipeline.to, page)] : [inPipeline]
}

const titles: Readonly<Record<string, string>> = {
  builds: 'Builds',
  'log-search': 'Search logs',
  insights: 'Insight',
  agents: 'Agents',
  clusters: 'Clusters',
  start: 'First steps',
  'pipelines/new': 'New pipeline',
}

const personTitles: Readonly<Record<string, string>> = {
  '/-/me/tokens': 'Access tokens',
  '/-/me/programs': 'Connected programs',
  '/-/me/sessions': 'Sessions',
}

function testCrumbs(org: string, suite: string | undefined, name: string, more: readonly Crumb[]): Crumb[] {
  const base = `/organizations/${org}/analytics/suites`
  return [
    { name: 'Tests', to: base },
    ...(suite === undefined ? [] : [{ name, to: `${base}/${suite}` }]),
    ...more,
  ]
}

function personCrumbs(pathname: string): Crumb[] {
  if (pathname === '/-/installation') return [{ name: 'Installation', to: pathname }]
  if (!pathname.startsWith('/-/me')) return []
  const you = { name: 'You', to: '/-/me' }
  const page = personTitles[pathname]
  return page === undefined ? [you] : [you, { name: page, to: pathname }]
}

function settingsCrumbs(org: string, page: string, more: readonly Crumb[]): Crumb[] {
  const base = `/organizations/${org}/settings`
  const title = settingsPages.find(({ name }) => name === page)?.title
  return [
    { name: 'Settings', to: base },
    ...(title === undefined ? [] : [{ name: title, to: `${base}/${page}` }]),
    ...more,
  ]
}

/** The part of a cluster that the page shows. Queues are the cluster's own page. */
function clusterPageCrumbs(pathname: string): Crumb[] {
  const [base, page] = /^.+?\/clusters\/[^/]+\/(\w+)/.exec(pathname) ?? []
  const title = clusterPages.find(({ name }) => name === page)?.title
  return base === undefined || title === undefined ? [] : [{ name: title, to: base }]
}

function pipelineSettingsCrumbs(pipeline: string, page: string): Crumb[] {
  const base = `${pipeline}/settings`
  const title = findPipelineSettings(page)?.title
  return [
    { name: 'Settings', to: base, isBetween: true },
    ...(title === undefined ? [] : [{ name: title, to: `${base}/${page}` }]),
  ]
}

function usePipelineCrumb(org: string, slug: string | undefined): Crumb | null {
  const { data } = useQuery({ ...pipelineQuery(org, slug ?? ''), enabled: slug !== undefined })
  return slug === undefined ? null : { name: data?.name ?? slug, to: `/${org}/${slug}` }
}

function useClusterCrumbs(org: string, cluster = '', queue = '', agent = ''): Crumb[] {
  const found = {
    cluster: useQuery({ ...clusterQuery(org, cluster), enabled: cluster !== '' }).data,
    queue: useQuery({ ...queueQuery({ org, cluster, queue }), enabled: queue !== '' }).data,
    agent: useQuery({ ...agentQuery(org, agent), enabled: agent !== '' }).data,
  }
  const base = `/organizations/${org}/clusters/${cluster}`
  const ofQueue = queue === '' ? base : `${base}/queues/${queue}`
  return [
    ...(cluster === '' ? [] : [{ name: found.cluster?.name ?? 'Cluster', to: base }]),
    ...(queue === '' ? [] : [{ name: found.queue?.key ?? 'Queue', to: ofQueue }]),
    ...(agent === '' ? [] : [{ name: found.agent?.name ?? 'Agent', to: `${ofQueue}/agents/${agent}` }]),
  ]
}

function useServiceCrumbs(org: string, service: string | undefined, delivery: string | undefined): Crumb[] {
  const { data } = useQuery({ ...serviceQuery(org, service ?? ''), enabled: service !== undefined })
  const to = `/organizations/${org}/settings/services/${service}`
  return [
    ...(service === undefined ? [] : [{ name: data === undefined ? 'Service' : serviceName(data), to }]),
    ...(delivery === undefined ? [] : [{ name: 'Delivery', to: `${to}/deliveries/${delivery}` }]),
  ]
}

function useSuiteName(org: string, suite = ''): string {
  const { data } = useQuery({ ...suiteQuery(org, suite), enabled: suite !== '' })
  return data?.name ?? suite
}

function useTemplateName(org: string, template = ''): string {
  const { data } = useQuery({ ...templateQuery(org, template), enabled: template !== '' })
  return data?.name ?? 'Template'
}

function useTestName(org: string, suite = '', test = ''): string {
  const { data } = useQuery({ ...testQuery({ org, suite, test }), enabled: test !== '' })
  return data === undefined ? 'Test' : testName(data)
}

function useTeamName(org: string, team: string | undefined): string {
  const { data } = useQuery({ ...teamQuery(org, team ?? ''), enabled: team !== undefined })
  return data?.name ?? 'Team'
}

/** Only its page asks for the image: not everybody may see it. */
function useImageName(org: string, cluster = '', image = ''): string {
  const { data } = useQuery({ ...agentImageQuery({ org, cluster, image }), enabled: false })
  return data?.name ?? 'Image'
}
