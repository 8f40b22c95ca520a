// The resources that addresses name, as their pages and the breadcrumb read them.
import { query } from './queries.ts'

const org = '/v2/organizations/{org}'

export interface QueueAddress {
  org: string
  cluster: string
  queue: string
}

export const pipelineQuery = (slug: string, pipeline: string) =>
  query(`GET ${org}/pipelines/{pipeline}`, {
    params: { org: slug, pipeline },
    query: { include_viewer: true },
  })

export const clusterQuery = (slug: string, cluster: string) =>
  query(`GET ${org}/clusters/{cluster}`, { params: { org: slug, cluster }, query: { include_viewer: true } })

export const queueQuery = (params: QueueAddress) =>
  query(`GET ${org}/clusters/{cluster}/queues/{queue}`, { params })

export const agentQuery = (slug: string, agent: string) =>
  query(`GET ${org}/agents/{agent}`, { params: { org: slug, agent } })

export const teamQuery = (slug: string, team: string) =>
  query(`GET ${org}/teams/{team}`, { params: { org: slug, team }, query: { include_viewer: true } })

export const agentImageQuery = (params: { org: string; cluster: string; image: string }) =>
  query(`GET ${org}/clusters/{cluster}/agent-images/{image}`, { params })

export const suiteQuery = (slug: string, suite: string) =>
  query(`GET ${org}/suites/{suite}`, { params: { org: slug, suite }, query: { include_viewer: true } })

export const templateQuery = (slug: string, template: string) =>
  query(`GET ${org}/pipeline-templates/{template}`, { params: { org: slug, template } })

export interface TestAddress {
  org: string
  suite: string
  test: string
}

export const testQuery = (params: TestAddress) =>
  query(`GET ${org}/suites/{suite}/tests/{test}`, { params: { ...params } })

/** Tests of one name are told apart by their scope. */
export const testName = ({ scope, name }: { scope: string; name: string }) =>
  scope === '' ? name : `${scope} › ${name}`

export const serviceQuery = (slug: string, service: string) =>
  query(`GET ${org}/services/{service}`, { params: { org: slug, service }, query: { include_targets: true } })

/** Services need no description. */
export const serviceName = (service: { description: string; provider: { name: string } }) =>
  service.description === '' ? service.provider.name : service.description
