import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { serviceName } from '../../api/resource-queries.ts'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import {
  deleteService,
  disableService,
  enableService,
  reloadServices,
  sendTest,
  type Provider,
  type Service,
  type ServiceAddress,
} from '../services/queries.ts'

interface Props {
  address: ServiceAddress
  service: Service
  provider: Provider
  /** Why a test would not show what the person expects. */
  testProblem: string | undefined
}

export const useEnable = (address: ServiceAddress) =>
  useMutation({
    mutationFn: () => enableService(address),
    async onSuccess() {
      await reloadServices()
      showToast('The service is enabled.')
    },
    onError: showFailure,
  })

/** Sends a test and shows its delivery. `beforehand`: what must be done for it to be sent. */
export function useTest(address: ServiceAddress, beforehand?: () => Promise<unknown>) {
  const navigate = useNavigate()
  return useMutation({
    async mutationFn() {
      await beforehand?.()
      return sendTest(address)
    },
    onSuccess: ({ id }) =>
      navigate({
        to: '/organizations/$org/settings/services/$service/deliveries/$delivery',
        params: { ...address, delivery: id },
      }),
    onError: showFailure,
    onSettled: reloadServices,
  })
}

export function ServiceActions({ address, service, provider, testProblem }: Props) {
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const enable = useEnable(address)
  const disable = useMutation({
    mutationFn: () => disableService(address),
    async onSuccess() {
      await reloadServices()
      showToast('The service is disabled.', { undo: () => enable.mutate() })
    },
    onError: showFailure,
  })
  const test = useTest(address)
  return (
    <>
      {service.enabled && provider.sends && (
        <Button
          isWrite
          isBusy={test.isPending}
          disabled={testProblem !== undefined}
          title={testProblem}
          onClick={() => test.mutate()}
        >
          Send test
        </Button>
      )}
      {service.enabled && (
        <Button isWrite isBusy={disable.isPending} onClick={() => disable.mutate()}>
          Disable
        </Button>
      )}
      <Button isWrite kind="danger" icon="trash" onClick={() => setDeleting(true)}>
        Delete…
      </Button>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete ${serviceName(service)}?`}
          action="Delete this service"
          onConfirm={async () => {
            await deleteService(address)
            await navigate({ to: '/organizations/$org/settings/services', params: { org: address.org } })
            await reloadServices()
            showToast('The service is deleted.')
          }}
          onClose={() => setDeleting(false)}
        >
          <p>Nothing more is sent, and the record of its deliveries goes too.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
