import { describe, expect, it } from 'vitest';
import {
  CONTENT_TYPE_RE,
  guessContentType,
  guessTextType,
  servedContentType,
} from '../../src/attachments/content-type.ts';
import { fileNameOf } from '../../src/attachments/file-name.ts';
import { placeOf } from '../../src/attachments/stored-file.ts';
import { fileHeaders } from '../../src/surfaces/http/file-answer.ts';

describe('[FLR-attachment-paths] names of files', () => {
  it('are the last segment of whatever was sent', () => {
    expect(fileNameOf('report.pdf')).toBe('report.pdf');
    expect(fileNameOf('../../etc/passwd')).toBe('passwd');
    expect(fileNameOf('C:\\temp\\a b.txt ')).toBe('a b.txt');
    expect(fileNameOf('Übersicht 2026.csv')).toBe('Übersicht 2026.csv');
    for (const name of ['', '/', '..', 'a/..', '.', 'a\nb', 'a\u0000', 'a\u202eb', 'x'.repeat(256), '\ud800']) {
      expect(fileNameOf(name)).toBeNull();
    }
  });

  it('never become part of a path', () => {
    const sha256 = 'ab'.repeat(32);
    expect(placeOf('default', sha256)).toEqual(['default', 'ab', sha256]);
    const odd = ['../x', 'A', '', 'x/y', 'x\u0000', '~', 'y'.repeat(200)];
    for (const vault of odd) expect(placeOf(vault, sha256)[0]).toMatch(/^~[0-9a-f]{64}$/);
    expect(new Set(odd.map((vault) => placeOf(vault, sha256)[0])).size).toBe(odd.length);
    for (const name of ['..', `../${'a'.repeat(61)}`, 'AB'.repeat(32), '', 'ab']) {
      expect(() => placeOf('default', name)).toThrow('leads out of the store');
    }
  });
});

describe('[FLR-attachment-download] types of files', () => {
  it('are guessed from the name', () => {
    expect(guessContentType('a.PNG')).toBe('image/png');
    expect(guessContentType('archive.tar.gz')).toBe('application/gzip');
    expect(guessContentType('constructor')).toBe('application/octet-stream');
    expect(guessContentType('a.constructor')).toBe('application/octet-stream');
    expect(guessTextType('notes')).toBe('text/plain; charset=utf-8');
    expect(guessTextType('a.csv')).toBe('text/csv; charset=utf-8');
  });

  it('hold nothing that could end a header', () => {
    for (const type of ['text/plain', 'text/plain; charset=utf-8', 'application/vnd.api+json']) {
      expect(type).toMatch(CONTENT_TYPE_RE);
    }
    for (const type of ['text', 'text/plain\r\nx: y', 'text/plain;', 'a/b c', '', '*/*']) {
      expect(type).not.toMatch(CONTENT_TYPE_RE);
    }
  });

  it('are never those of pages and scripts when a file is sent', () => {
    for (const type of [
      'text/html',
      'image/svg+xml',
      'application/xhtml+xml',
      'text/javascript',
      'TEXT/HTML',
      'x\ny',
    ]) {
      expect(servedContentType(type)).toBe('application/octet-stream');
    }
    expect(servedContentType('image/png')).toBe('image/png');
  });

  it('go with a name that stays within its quotes', () => {
    const name = 'a"; filename="ü\'*(1).html';
    const { 'content-disposition': disposition } = fileHeaders({
      body: Buffer.of(),
      content_type: 'a/b',
      file_name: name,
    });
    expect(disposition).toBe(
      'attachment; filename="a__ filename_____(1).html"; ' +
        "filename*=UTF-8''a%22%3B%20filename%3D%22%C3%BC%27%2A%281%29.html",
    );
  });
});
