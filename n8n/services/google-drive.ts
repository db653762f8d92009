// The operations of n8n's Google Drive node, from its version 3 on, and the actions that they become.
import type { JsonObject } from '../../graph/json.js';
import { addFile } from '../files.js';
import type { TranslatedNode } from '../node-translation.js';
import { addAction, warnOfDifferences } from './add-action.js';
import { filled, type Given } from './given.js';
import type { Operation, Service } from './operation.js';

const FILE = /^https:\/\/(?:drive|docs)\.google\.com\/(?:.*\/)?d\/([\w-]+)/;
const FOLDER = /^https:\/\/drive\.google\.com\/(?:.*\/)?folders\/([\w-]+)/;
const FOLDER_TYPE = 'application/vnd.google-apps.folder';

/** Returns the parent folder. If n8n's node names only a drive, that is the root folder of the drive. */
function parent(given: Given): string {
  const folder = given.id('folderId', FOLDER);
  const drive = given.id('driveId', FOLDER);
  if (folder !== '' && folder !== 'root') return folder;
  return drive === '' || drive === 'My Drive' ? 'root' : drive;
}

function removal(field: string, address: RegExp, key: string): Operation {
  const isPermanent = (given: Given): boolean => given.raw('options.deletePermanently') === true;
  return {
    action: 'files.update',
    values: (given) => ({ fileId: given.id(field, address), supportsAllDrives: true, trashed: true }),
    gives: (given) => ({ [key]: given.id(field, address), success: true }),
    differs: (given) => [isPermanent(given) && 'The file goes to the trash, and is not deleted for good.'],
  };
}

/** Adds the request for a file, and a node that puts the file into a field of the item. */
function download(given: Given, service: Service): TranslatedNode {
  const { at } = given;
  const values = { fileId: given.id('fileId', FILE), alt: 'media', supportsAllDrives: true };
  const id = addAction(at, service, 'files.get', values, { givesFile: true });
  const made = addFile(at, id, given.raw('options.binaryPropertyName') ?? 'data');
  warnOfDifferences(given, ['Documents, sheets and slides of Google are not converted: a download of one fails.']);
  return made;
}

function permission(given: Given): JsonObject {
  return given.fields('permissionsUi.permissionsValues', { role: 'role', type: 'type', emailAddress: 'emailAddress' });
}

export const googleDrive: Service = {
  id: 'google-drive',
  name: 'Google Drive',
  since: 3,
  resource: 'file',
  byDefault: { file: 'upload', folder: 'create', fileFolder: 'search' },
  operations: {
    'file/copy': {
      action: 'files.copy',
      values: (given) => {
        const isSame = given.raw('sameFolder') !== false;
        const name = given.text('name');
        return filled({
          fileId: given.id('fileId', FILE),
          supportsAllDrives: true,
          name: name === '' ? undefined : name,
          parents: isSame ? undefined : [parent(given)],
        });
      },
    },
    'file/deleteFile': removal('fileId', FILE, 'id'),
    'folder/deleteFolder': removal('folderNoRootId', FOLDER, 'fileId'),
    'file/download': download,
    'file/share': {
      action: 'permissions.create',
      values: (given) => ({
        fileId: given.id('fileId', FILE),
        supportsAllDrives: true,
        ...given.fields('options', { sendNotificationEmail: 'sendNotificationEmail' }),
        ...permission(given),
      }),
    },
    'folder/share': {
      action: 'permissions.create',
      values: (given) => ({
        fileId: given.id('folderNoRootId', FOLDER),
        supportsAllDrives: true,
        ...given.fields('options', { sendNotificationEmail: 'sendNotificationEmail' }),
        ...permission(given),
      }),
    },
    'folder/create': {
      action: 'files.create',
      values: (given) =>
        filled({
          supportsAllDrives: true,
          fields: given.raw('options.simplifyOutput') === false ? '*' : undefined,
          name: given.text('name') || 'Untitled',
          mimeType: FOLDER_TYPE,
          parents: [parent(given)],
        }),
    },
  },
};
