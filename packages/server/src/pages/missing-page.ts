// The page for browsers at an address without a page. For addresses that the API returns as `web_url` it shows where the API
// has the resource. It looks nothing up, so it does not reveal whether the resource exists.
import type { FastifyRequest } from 'fastify'
import { pathOf } from '../http/query.ts'
import { html, type Html } from './html.ts'
import type { PageAnswer } from './page.ts'

/** Clients of these paths are programs, even when they accept HTML. */
const programPaths = /^\/(v\d+|deliver|badges|avatars|emojis|uploads|docs|metrics|healthz|readyz)(\/|$)/

/** null: the client is no browser and gets the API's response. */
export function missingPage({ url, headers }: Pick<FastifyRequest, 'url' | 'headers'>): PageAnswer | null {
  const path = pathOf(url)
  if (!headers.accept?.includes('text/html') || programPaths.test(path)) return null
  const named = webAddresses.flatMap(({ pattern, name, api }) => {
    const found = pattern.exec(path)?.slice(1)
    return found === undefined ? [] : [{ name: name(...found), api: `/v2/organizations/${api(...found)}` }]
  })[0]
  return {
    status: 404,
    title: 'No page here',
    content: html`${named === undefined ? unknownAddress(path) : knownAddress(named)}
      <p><a href="/">Go to the start</a> or <a href="/sign-in">sign in</a>.</p>`,
  }
}

const unknownAddress = (path: string): Html => html`<p>There is nothing at ${path.slice(0, 200)}</p>`

const knownAddress = ({ name, api }: { name: string; api: string }): Html => html`
  <p>This is the address of ${name}. It has no web page; the API has it, for those who may see it, at:</p>
  <p><code>GET ${api}</code></p>
  <p><a href="/docs">How to use the API</a></p>
`

interface WebAddress {
  pattern: RegExp
  name(...parts: readonly string[]): string
  api(...parts: readonly string[]): string
}

/** The forms of `web_url` in responses. */
const webAddresses: readonly WebAddress[] = [
  {
    pattern: /^\/organizations\/([\w-]+)\/clusters\/([\w-]+)(?:\/queues\/[\w-]+)?\/agents\/([\w-]+)\/?$/,
    name: (org, _cluster, agent) => `agent ${agent} of the organization ${org}`,
    api: (org, _cluster, agent) => `${org}/agents/${agent}`,
  },
  {
    pattern: /^\/organizations\/([\w-]+)\/clusters\/([\w-]+)\/queues\/([\w-]+)\/?$/,
    name: (org, _cluster, queue) => `queue ${queue} of the organization ${org}`,
    api: (org, cluster, queue) => `${org}/clusters/${cluster}/queues/${queue}`,
  },
  {
    pattern: /^\/organizations\/([\w-]+)\/clusters\/([\w-]+)\/agent_images\/([\w-]+)\/?$/,
    name: (org, _cluster, image) => `agent image ${image} of the organization ${org}`,
    api: (org, cluster, image) => `${org}/clusters/${cluster}/agent-images/${image}`,
  },
  {
    pattern: /^\/organizations\/([\w-]+)\/clusters\/([\w-]+)\/?$/,
    name: (org, cluster) => `cluster ${cluster} of the organization ${org}`,
    api: (org, cluster) => `${org}/clusters/${cluster}`,
  },
  {
    pattern: /^\/organizations\/([\w-]+)\/pipeline-templates\/([\w-]+)\/?$/,
    name: (org, template) => `pipeline template ${template} of the organization ${org}`,
    api: (org, template) => `${org}/pipeline-templates/${template}`,
  },
  {
    pattern: /^\/([\w-]+)\/([\w-]+)\/builds\/(\d+)\/?$/,
    name: (org, pipeline, build) => `build ${build} of the pipeline ${pipeline} in the organization ${org}`,
    api: (org, pipeline, build) => `${org}/pipelines/${pipeline}/builds/${build}`,
  },
  {
    pattern: /^\/(?!organizations\/)([\w-]+)\/([\w-]+)\/?$/,
    name: (org, pipeline) => `the pipeline ${pipeline} in the organization ${org}`,
    api: (org, pipeline) => `${org}/pipelines/${pipeline}`,
  },
  {
    pattern: /^\/([\w-]+)\/?$/,
    name: (org) => `the organization ${org}`,
    api: (org) => org,
  },
]
