import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { serviceName, serviceQuery } from '../../api/resource-queries.ts'
import { Button } from '../../parts/Button.tsx'
import { SettingsForm } from '../../parts/settings/SettingsForm.tsx'
import { Notice } from '../../parts/settings/Notice.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { useDraft, type Draft } from '../../parts/settings/use-draft.ts'
import { NotLoaded } from '../../parts/States.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import {
  enableService,
  providersQuery,
  reloadServices,
  updateService,
  type Provider,
  type Service,
  type ServiceAddress,
} from '../services/queries.ts'
import { serviceState } from '../services/words.ts'
import { Deliveries } from './Deliveries.tsx'
import { changeBody, formOf, type ServiceForm } from './fields.ts'
import { ServiceActions, useEnable, useTest } from './ServiceActions.tsx'
import { ServiceFields } from './ServiceFields.tsx'
import { isMissing, isMoved } from './setting-values.ts'

export function ServicePage() {
  const address = useParams({ from: '/organizations/$org/settings/services/$service' })
  const { org } = address
  const service = useQuery(serviceQuery(org, address.service))
  const providers = useQuery(providersQuery(org))
  const provider = providers.data?.find(({ id }) => id === service.data?.provider.id)
  if (service.data !== undefined && provider !== undefined)
    return <LoadedService address={address} service={service.data} provider={provider} />
  return (
    <OrganizationSettings org={org} name="services">
      <NotLoaded query={service.data === undefined ? service : providers} />
    </OrganizationSettings>
  )
}

interface Props {
  address: ServiceAddress
  service: Service
  provider: Provider
}

function LoadedService({ address, service, provider }: Props) {
  const stored = formOf(service, provider)
  const draft = useDraft(stored)
  const testProblem = draft.isChanged ? 'Save first: a test uses the settings that are stored.' : undefined
  return (
    <OrganizationSettings
      org={address.org}
      name="services"
      title={serviceName(service)}
      subtitle={
        <>
          {service.provider.name} <StateBadge kind="service" state={serviceState(service)} />
        </>
      }
      actions={
        <ServiceActions address={address} service={service} provider={provider} testProblem={testProblem} />
      }
    >
      {serviceState(service) !== 'enabled' && (
        <NotSending address={address} service={service} provider={provider} testProblem={testProblem} />
      )}
      {provider.sends && <Deliveries address={address} isEnabled={service.enabled} />}
      <SectionHead title="Settings of the service" />
      <ServiceSettings address={address} provider={provider} stored={stored} draft={draft} />
    </OrganizationSettings>
  )
}

function NotSending({
  address,
  service,
  provider,
  testProblem,
}: Props & { testProblem: string | undefined }) {
  const enable = useEnable(address)
  const enableAndTest = useTest(address, () => enableService(address))
  const { broken_at: at, broken_reason: reason } = service
  return (
    <Notice
      action={
        <>
          {provider.sends && (
            <Button
              isWrite
              isBusy={enableAndTest.isPending}
              disabled={testProblem !== undefined}
              title={testProblem}
              onClick={() => enableAndTest.mutate()}
            >
              Enable and send test
            </Button>
          )}
          <Button kind="primary" isWrite isBusy={enable.isPending} onClick={() => enable.mutate()}>
            {at === null ? 'Enable' : 'Enable again'}
          </Button>
        </>
      }
    >
      {at === null ? (
        'Nothing is sent while it is disabled.'
      ) : (
        <>
          Stopped <Time at={at} />, because nothing got through. {reason}
        </>
      )}
    </Notice>
  )
}

interface SettingsProps extends Pick<Props, 'address' | 'provider'> {
  stored: ServiceForm
  draft: Draft<ServiceForm>
}

function ServiceSettings({ address, provider, stored, draft }: SettingsProps) {
  const missing =
    isMoved(provider.settings, stored.settings, draft.fields.settings) &&
    provider.settings.find((setting) => isMissing(setting, stored.settings, draft.fields.settings))
  return (
    <SettingsForm
      draft={draft}
      problem={missing ? `${missing.label} is needed again.` : undefined}
      onSave={async (changed) => {
        await updateService(address, changeBody(provider, stored, draft.fields, changed))
        await reloadServices()
      }}
    >
      <ServiceFields
        org={address.org}
        provider={provider}
        before={stored}
        form={draft.fields}
        onChange={draft.set}
      />
    </SettingsForm>
  )
}
