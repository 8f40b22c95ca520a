// The pages of a cluster, in their order. They list each other, and the breadcrumb names them.
import type { Answer } from '../api/call.ts'

type Cluster = Answer<'GET /v2/organizations/{org}/clusters/{cluster}'>

interface ClusterPage {
  /** The last word of the address. Queues are at the address of the cluster. */
  name: string
  title: string
  /** Only for administrators and maintainers of the cluster. */
  isManaged: boolean
  /** Only of clusters whose agents Millrace starts itself. */
  isHosted: boolean
}

export const clusterPages = [
  { name: '', title: 'Queues', isManaged: false, isHosted: false },
  { name: 'tokens', title: 'Agent tokens', isManaged: true, isHosted: false },
  { name: 'secrets', title: 'Secrets', isManaged: true, isHosted: false },
  { name: 'maintainers', title: 'Maintainers', isManaged: false, isHosted: false },
  { name: 'agent_images', title: 'Agent images', isManaged: true, isHosted: true },
  { name: 'cache_volumes', title: 'Cache volumes', isManaged: true, isHosted: true },
  { name: 'settings', title: 'Settings', isManaged: true, isHosted: false },
] as const satisfies readonly ClusterPage[]

export type ClusterPageName = (typeof clusterPages)[number]['name']

export const clusterPath = (org: string, cluster: string, page: ClusterPageName = '') =>
  `/organizations/${org}/clusters/${cluster}${page === '' ? '' : `/${page}`}`

/** The API tells only those who may manage a cluster whether it is hosted. */
export const openClusterPages = ({ viewer, hosted = false }: Cluster) =>
  clusterPages
    .filter((page) => viewer?.may.manage === true || !page.isManaged)
    .filter((page) => hosted || !page.isHosted)
