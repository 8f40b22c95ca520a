// Sends pipelines, stages and jobs to the CI intake of a monitoring site.
import { Type } from 'typebox'
import { getHistory } from './history.ts'
import { DeliveryFailed, expectSuccess, type Provider, type Sender } from '../provider.ts'
import { resourcesOf } from './monitoring-resources.ts'
import { unlessFiltered } from './schemas.ts'

interface MonitoringSettings {
  api_key: string
  monitoring_site?: string
  monitoring_tags?: string
}

export const monitoringPipelineVisibility: Provider = {
  id: 'monitoring_pipeline_visibility',
  name: 'Monitoring Pipeline Visibility',
  graphqlType: null,
  madeBy: 'rest',
  isPinged: false,
  summary: 'Pipelines, stages and jobs, to the CI intake of a monitoring site.',
  selectsBy: 'build_states_or_all',
  fields: {
    api_key: {
      label: 'API key',
      schema: Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: '^[\\x21-\\x7e]+$',
        description: 'Must be printable characters without spaces.',
      }),
      isRequired: true,
      isSecret: true,
      shown: 'masked',
    },
    monitoring_site: {
      label: 'Site',
      schema: Type.String({
        maxLength: 255,
        pattern: '^[A-Za-z0-9.-]+(:\\d{1,5})?$|^https?://\\S+$',
        description:
          'Site of the monitoring service. Must be the name of a site, such as datadoghq.eu, or the URL of its intake.',
        examples: ['datadoghq.com'],
      }),
      isAddress: true,
      shown: 'full',
    },
    monitoring_tags: {
      label: 'Tags',
      schema: Type.String({
        maxLength: 10_000,
        pattern: '^([^:\\n]+:[^\\n]*(\\n|$))*$',
        description: 'Tags that are added to everything sent. Must be tags, one key:value per line.',
        examples: ['team:platform\nenv:ci'],
      }),
      hasLines: true,
      shown: 'full',
    },
  },
}

/** The limit of the intake for one request. */
const resourcesAtOnce = 1000

export const monitoringPipelineVisibilitySender: Sender = {
  wants: (service, trigger) => trigger.event === 'build.finished' && unlessFiltered(service, trigger),
  async deliver({ message, service, send, db }) {
    const settings = service.settings as unknown as MonitoringSettings
    const base = apiUrl(settings.monitoring_site ?? 'datadoghq.com')
    const key = { headers: { 'DD-API-KEY': settings.api_key }, secretHeaders: ['dd-api-key'] }
    if (message.event === 'ping') {
      expectSuccess(await send({ method: 'GET', url: `${base}/api/v1/validate`, ...key, body: null }))
      return
    }
    const history = await getHistory(db, service.organizationId, message)
    const resources = resourcesOf(message, history, tagsOf(settings.monitoring_tags ?? ''))
    for (let from = 0; from < resources.length; from += resourcesAtOnce) {
      const response = await send({
        method: 'POST',
        url: `${base}/api/v2/ci/pipeline`,
        ...key,
        headers: { ...key.headers, 'Content-Type': 'application/json' },
        body: bodyOf(resources.slice(from, from + resourcesAtOnce)),
      })
      if (response.status === 400) {
        throw new DeliveryFailed('The intake answered 400: it does not take the build.', { isFinal: true })
      }
      expectSuccess(response)
    }
  },
}

const bodyOf = (resources: readonly object[]) =>
  JSON.stringify({
    data: resources.map((resource) => ({
      type: 'cipipeline_resource_request',
      attributes: { provider_name: 'millrace', resource },
    })),
  })

const apiUrl = (site: string) =>
  (/^https?:\/\//.test(site) ? site : `https://api.${site}`).replace(/\/+$/, '')

const tagsOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
