import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { queueQuery, type QueueAddress } from '../../api/resource-queries.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { useDraft } from '../../parts/settings/use-draft.ts'
import { showToast } from '../../parts/toasts/toasts.ts'
import { imagesQuery } from '../agent-images/queries.ts'
import { queuesQuery, shapesQuery, type Queue } from '../cluster/queries.ts'
import { AffinityField } from '../cluster/AffinityField.tsx'
import { describeMachine, isSameKind } from '../cluster/machines.ts'
import { FairFields } from './FairFields.tsx'
import { updateQueue } from './queries.ts'

interface Props {
  address: QueueAddress
  queue: Queue
  onClose: () => void
}

export function EditQueueDialog({ address, queue, onClose }: Props) {
  const queryClient = useQueryClient()
  const hosted = queue.hosted_agents
  const draft = useDraft({
    description: queue.description ?? '',
    retry_agent_affinity: queue.retry_agent_affinity,
    fair_by: queue.fair_by,
    fair_weights: queue.fair_weights,
    machine_limit_percent: queue.machine_limit_percent,
    price: String(queue.price_per_minute),
    machine: hosted?.instance_shape.name ?? '',
    image: imageOf(queue),
  })
  const { fields, changed, set } = draft
  const { data: shapes = [] } = useQuery({ ...shapesQuery(address.org), enabled: hosted !== undefined })
  const save = useMutation({
    async mutationFn() {
      const { machine, image, price, ...body } = changed
      const isOther = machine !== undefined || image !== undefined
      await updateQueue(address, {
        ...body,
        ...(price === undefined ? {} : { price_per_minute: Number(price) }),
        ...(isOther ? { hostedAgents: { instanceShape: fields.machine, agentImageRef: fields.image } } : {}),
      })
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: queueQuery(address).queryKey }),
        queryClient.invalidateQueries({ queryKey: queuesQuery(address.org, address.cluster).queryKey }),
      ])
    },
    onSuccess() {
      showToast('Saved.')
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Edit the queue ${queue.key}`}
      action="Save"
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Description"
        value={fields.description}
        problem={save.error?.message}
        onValue={(description) => set({ description })}
      />
      <AffinityField
        value={fields.retry_agent_affinity}
        onValue={(affinity) => set({ retry_agent_affinity: affinity })}
      />
      <TextField
        label="Price of a minute"
        type="number"
        min={0}
        max={1_000_000}
        step="any"
        inputMode="decimal"
        value={fields.price}
        hint="What a minute of a running job costs, in the organization’s currency. It counts for jobs that end from now on."
        onValue={(price) => set({ price })}
      />
      {hosted === undefined && <FairFields org={address.org} fields={fields} set={set} />}
      {hosted !== undefined && (
        <>
          <SelectField
            label="Machine of its agents"
            value={fields.machine}
            hint="Agents that run a job keep theirs."
            onValue={(machine) => set({ machine })}
          >
            {[...new Set([hosted.instance_shape.name, ...shapes.map(({ name }) => name)])]
              .filter((name) => isSameKind(name, hosted.instance_shape.name))
              .map((name) => (
                <option key={name} value={name}>
                  {describeMachine(name)}
                </option>
              ))}
          </SelectField>
          {'linux' in hosted.platform_settings && (
            <ImageField address={address} value={fields.image} onValue={(image) => set({ image })} />
          )}
        </>
      )}
    </FormDialog>
  )
}

function imageOf({ hosted_agents: hosted }: Queue): string {
  const settings = hosted?.platform_settings
  return settings !== undefined && 'linux' in settings ? (settings.linux.agent_image_ref ?? '') : ''
}

interface ImageProps {
  address: QueueAddress
  value: string
  onValue: (value: string) => void
}

/** The images of the cluster that are ready, or any other by its name. */
function ImageField({ address, value, onValue }: ImageProps) {
  const { data: images = [] } = useQuery(imagesQuery(address))
  const ready = images.flatMap(({ name, image_ref: ref }) => (ref === null ? [] : [{ name, ref }]))
  return (
    <TextField
      label="Image of its agents"
      value={value}
      placeholder="The installation’s own"
      list="agent-images"
      autoComplete="off"
      hint={
        <>
          The name of an image. Empty: the installation’s own.
          <datalist id="agent-images">
            {ready.map(({ name, ref }) => (
              <option key={ref} value={ref}>
                {name}
              </option>
            ))}
          </datalist>
        </>
      }
      onValue={onValue}
    />
  )
}
