import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { TextArea, TextField } from '../../parts/Field.tsx'
import type { ClusterAddress } from '../cluster/queries.ts'
import { createImage, imagesQuery } from './queries.ts'

export function NewImageDialog({ address, onClose }: { address: ClusterAddress; onClose: () => void }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [dockerfile, setDockerfile] = useState('')
  const [key, setKey] = useState(newKey)
  const create = useMutation({
    mutationFn: () => createImage(address, { name, dockerfile }, key),
    async onSuccess({ web_url: url }) {
      await queryClient.invalidateQueries({ queryKey: imagesQuery(address).queryKey })
      await navigate({ to: new URL(url).pathname })
    },
    onError: () => setKey(newKey()),
  })
  return (
    <FormDialog
      title="New agent image"
      action="Build the image"
      size="wide"
      isBusy={create.isPending}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField label="Name" value={name} required maxLength={255} onValue={setName} />
      <TextArea
        label="Dockerfile"
        value={dockerfile}
        rows={8}
        spellCheck={false}
        placeholder="RUN apt-get update && apt-get install -y nodejs"
        hint="Without a FROM line: it stands on the image of the installation."
        onValue={setDockerfile}
      />
      {create.error !== null && <p role="alert">{create.error.message}</p>}
    </FormDialog>
  )
}
