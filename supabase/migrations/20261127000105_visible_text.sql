-- What readers of a Markdown or HTML text see of it: what is searched, embedded, quoted and sent to
-- a model. Every pattern stops where its beginning would match again, so that the time is linear.

-- Data that nobody reads: data: addresses, keys and certificates, base64 in one run or in lines,
-- and, in lines of more than 2,000 characters, long runs without spaces. Base64 has capitals, small
-- letters and many digits, unlike paths and hashes. Addresses and scripts without spaces stay.
create function tasklens.mark_data(text text) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
declare
  marked text := mark_data.text;
  mixed constant text := '(?=(?:[A-Za-z+/]*[0-9]){10})(?=[A-Z0-9+/]*[a-z])(?=[a-z0-9+/]*[A-Z])';
begin
  if marked ~* '\mdata:[a-z]' then
    marked := regexp_replace(marked, '"data:image/svg[^"\n]{64,}"|''data:image/svg[^''\n]{64,}''', '"[image]"', 'gi'); -- plain SVG has spaces
    marked := regexp_replace(marked, '\mdata:([a-z]+)/[a-z0-9.+-]+(?:;[a-z0-9=._-]+)*,[^][\s()<>"''`]{64,}', '[\1]', 'gi');
  end if;
  if strpos(marked, '-----BEGIN ') > 0 then
    marked := regexp_replace(marked, '-----BEGIN ([A-Z0-9 ]*(?:KEY|CERTIFICATE|REQUEST|PARAMETERS|CRL|CMS|PKCS7|MESSAGE|SIGNATURE)(?: BLOCK)?)-----'
      '(?:[^-]|-{1,4}[^-])*-----END [A-Z0-9 ]+-----', '[\1]', 'g');
  end if;
  if marked ~ '[A-Za-z0-9+/]{60}' then
    marked := regexp_replace(marked, '(?:^|(?<=[\s"''(,:>[]))' || mixed || '[A-Za-z0-9+/]{200,}={0,2}', '[data]', 'g');
    marked := regexp_replace(marked, '(^|\n)([ \t>]*)' || mixed || '[A-Za-z0-9+/]{60,80}\r?(?:\n[ \t>]*[A-Za-z0-9+/]{60,80}\r?){2,}'
      '(?:\n[ \t>]*(?:[A-Za-z0-9+/]{16,79}|[A-Za-z0-9+/]{0,79}={1,2}))?(?=\s|$)', '\1\2[data]', 'g');
  end if;
  if octet_length(marked) > 2000 and exists (select from string_to_table(marked, e'\n') line where octet_length(line) > 2000) then
    marked := (
      select string_agg(case
          when r.rest is null then l.line
          -- Almost without spaces, but for prose before and after.
          when length(r.bare) > 2000 and length(r.bare) > 40 * (length(r.bare) - length(translate(r.bare, e' \t', '')))
            then regexp_replace(r.rest, '[!-~]{40,}(?:.*[!-~]{40,})?', '[data]')
          else r.rest end, e'\n' order by l.place)
      from string_to_table(marked, e'\n') with ordinality as l(line, place)
      left join lateral (
        select string_agg(case when w.is_data then '[data]' else w.word end, ' ' order by w.place) as rest,
          string_agg(case when w.word ~ '^[!-~]*$' and not w.is_data then w.word else '' end, ' ' order by w.place) filter (where w.word !~ '://') as bare
        from (
          select x.word, x.place, octet_length(x.word) > 2000 and x.word ~ '^[!-~]+$' and x.word !~ '://' as is_data
          from string_to_table(l.line, ' ') with ordinality as x(word, place)
        ) w
        where octet_length(l.line) > 2000
      ) r on true);
  end if;
  return marked;
end
$$;
comment on function tasklens.mark_data is 'A text with a short mark such as [image], [PRIVATE KEY] or [data] in place of each inline datum.';

-- As on GitHub, a comment that is not closed is one where it begins a line, and then hides the
-- rest. An element is hidden only if it is closed. Security definer: writers of tickets need no
-- rights in this schema.
create function tasklens.visible_text(text text) returns text
language plpgsql immutable security definer set search_path = '' set jit = off
as $$
declare
  marked constant text := tasklens.mark_data(visible_text.text);
  -- Few pieces take little time: blank lines are one with the line that follows, and what begins
  -- neither lists nor code with the lines before. A lookahead slows down each.
  line_start constant text := '(?:\r?\n[ \t>]*)+' || case when marked ~ '\]:[ \t]*[#<]' then -- with a definition that links nowhere
    '(?:\[[^]\n]+\]:[ \t]*(?:#|<#?>)[ \t]*(?:"(?:[^"\n]|\n[ \t]*[^"\s])*"|''(?:[^''\n]|\n[ \t]*[^''\s])*'''
    '|\((?:[^()\n]|\n[ \t]*[^()\s])*\))?[ \t]*(?=\r?\n|$))?' else '' end;
  plain constant text := '[^\r\n<`~-](?:[^\r\n<`~-]|-[^\r\n<`~-]|[~-]+[^\r\n<`~>-]|<[^A-Za-z/!\r\n<`~-]|\r?\n[^[ \t>\r\n*+0-9<`~-])*';
  tag constant text := '</?[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:@][A-Za-z0-9_.:-]*(?:\s*=\s*(?:"[^"]*"|''[^'']*''|[^]\s"''=<>`]+))?)*\s*/?>';
  unseen constant text := '<(?:script|style|template|title|noframes|noembed|datalist|svg)\M';
  -- In a style, also what has no size or is far outside. White is not seen where nothing has a
  -- background.
  zero constant text := '\s*:\s*0+(?:\.0+)?(?![.0-9])';
  flat constant text := '(?<![a-z-])(?:max-)?(?:height|width)' || zero;
  white constant text := case when marked ~* 'background|bgcolor' then null
    else '(?<![a-z-])color\s*[:=]\s*["'']?(?:white|transparent|#fff(?:fff)?\M|rgba?\(\s*255\s*,\s*255\s*,\s*255)' end;
  hides constant text := '(?:' || concat_ws('|', 'display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|mso-hide\s*:\s*all',
    '(?:opacity|font-size)' || zero || '|font-size\s*:\s*1px', flat || '[^<>]*overflow\s*:\s*hidden|overflow\s*:\s*hidden[^<>]*' || flat,
    '(?:left|top|text-indent)\s*:\s*-(?:[0-9]{4}|[0-9]{3}r?em)|clip(?:-path)?\s*:\s*(?:rect\(\s*[01]|inset\(\s*(?:50|100)%)', white) || ')';
  hiding constant text := '<!--|<[^<>]*(?:\mhidden\M|' || hides || ')|\]:[ \t]*[#<]|' || unseen;
  most constant integer := tasklens.text_limit();
  kept constant integer := case when length(marked) > most then coalesce(length(substring(left(marked, most) from '.*\n[ \t>]*\r?\n')), most) else most end;
  is_cut constant boolean := substr(marked, kept + 1) ~* (hiding || '|--+>|</');
  pieces text[];
  piece text;
  kind text;
  place integer := 0;
  line integer; -- where it begins
  at integer;
  twins integer[]; -- by place: of a run of ticks the next of its length, of other pieces the next end of a comment
  blanks integer[]; -- by place: the next blank line
  hidden_until integer := 0;
  code_until integer := 0;
  drops_line boolean;
  fence text;
  indented boolean := false;
  after_blank boolean;
  indent integer;
  content_at integer := 0;  -- where the content of a list's item begins
  tags integer[] := array[]::integer[]; -- outside of code
  result text;
begin
  if (marked !~* hiding) is not false then
    return marked;
  end if;
  pieces := array(select m[1] from regexp_matches(e'\n' || left(marked, kept), concat_ws('|', line_start, plain, tag, '`+|~+|<!--+>|<!--|-+>?|<|\r'), 'g') m);
  select array_agg(t.twin order by t.place), array_agg(t.blank order by t.place) into twins, blanks
  from (
    select p.place, case when p.piece like '`%' then lead(p.place) over (partition by p.piece like '`%', length(p.piece) order by p.place)
        else min(p.place) filter (where p.piece like '--%>') over backward end as twin,
      coalesce(min(p.place) filter (where p.piece ~ '^\r?\n[ \t>]*\r?\n') over backward, cardinality(pieces) + 1) as blank
    from unnest(pieces) with ordinality p(piece, place) window backward as (order by p.place desc)
  ) t;
  foreach piece in array pieces loop
    place := place + 1;
    if place > hidden_until then
      kind := left(ltrim(piece, e'\r'), 1);
      if kind = e'\n' then
        line := place;
        after_blank := place = 1 or piece ~ '^\r?\n[ \t>]*\r?\n';
        indent := length(replace(substring(split_part(piece, '[', 1) from '[ \t]*$'), e'\t', '    '));
        indented := fence is null and indent >= content_at + 4 and (after_blank or indented);
        if not indented and fence is null then
          if concat(pieces[place + 1], ' ') ~ '^(-\s|([*+]|[0-9]{1,9}[.)])[\s<~-])' then
            content_at := indent + 2;
          elsif after_blank and indent < content_at then
            content_at := 0;
          end if;
          if strpos(piece, '[') > 0 then
            pieces[place] := regexp_replace(piece, '\r?\n[ \t>]*\[.*', '');
          end if;
        end if;
      elsif fence is not null then
        if line = place - 1 and starts_with(piece, fence) and coalesce(pieces[place + 1], '') ~ '^(\s*(\n|$)|\s+[<~-])' then
          fence := null;
        end if;
      else
        indented := indented and (kind = '<' or strpos(piece, e'\n') = 0);
        if kind in ('`', '~', '<') and not indented and place > code_until and right(pieces[place - 1], 1) <> '\' then
          at := place + 1;
          while piece like '```%' and line = place - 1 and pieces[at] !~ '^(?:`|\r?\n|[^<].*\n)' loop at := at + 1; end loop;
          if line = place - 1 and (piece like '~~~%' or piece like '```%' and (pieces[at] like '`%') is not true) then
            fence := piece;
          elsif kind = '`' and twins[place] < blanks[place] then
            code_until := twins[place];
          elsif piece like '<!--%' then
            drops_line := line = place - 1;
            hidden_until := case when piece like '%>' then place
              when drops_line then coalesce(twins[place], cardinality(pieces) + 1)
              when twins[place] < blanks[place] then twins[place]
              else hidden_until end;
          end if;
        end if;
        if kind = '<' and not indented and place > code_until then
          tags := tags || place;
        end if;
      end if;
    end if;
    if place <= hidden_until then
      pieces[place] := '';
      if place = hidden_until and drops_line and coalesce(pieces[place + 1], e'\n') ~ '^\r?\n' then
        pieces[line] := regexp_replace(pieces[line], '\r?\n[ \t>]*$', '');
      end if;
    end if;
  end loop;
  result := array_to_string(pieces, '');
  if result ~* ('<[^<>]*(?:\mhidden\M|' || hides || ')|' || unseen) then
    result := (
      with tag as (
        select p.place, p.piece, p.piece like '</%' as closes, n.name,
          sum(case when p.piece like '</%' then -1 else 1 end) over (partition by n.name order by p.place) + (p.piece like '</%')::integer as level
        from unnest(tags) t(place) join unnest(pieces) with ordinality p(piece, place) using (place)
        cross join lateral (select lower(substring(p.piece from '^</?([A-Za-z][A-Za-z0-9-]*)')) as name) n
        where n.name is not null
      ), range as (
        select t.*, coalesce(lead(t.place) over (partition by t.name, t.level order by t.place), case when is_cut then cardinality(pieces) + 1 end) as mate from tag t
      ), edge as (
        select e.* from range r cross join lateral (values (r.place, 1, r.name), (r.mate, -1, null)) e(place, change, name)
        where not r.closes and r.mate is not null and (r.piece ~* ('^' || unseen)
          or regexp_replace(r.piece, '"[^"]*"|''[^'']*''', '', 'g') ~* '\shidden(?=[\s=/>])'
          or r.piece ~* ('\sstyle\s*=\s*(?:"[^">]*|''[^''>]*|[^"''\s>]*)' || hides) or r.piece ~* ('^<font\s(?:[^>]*\s)?' || white))
      ), shown as (
        select p.place, p.piece, e.change, e.name, sum(e.change) over (order by p.place) as depth
        from unnest(pieces) with ordinality as p(piece, place) left join edge e using (place)
      )
      select string_agg(case when s.depth > 0 or s.change < 0 then case when s.name = 'svg' and s.depth = 1 then '[image]' else '' end else s.piece end, ''
        order by s.place) from shown s);
  end if;
  result := result || case when is_cut then e'\n[…]' when hidden_until <= place then substr(marked, kept + 1) else '' end;
  result := substr(result, 1 + coalesce(length(substring(result from '^\r?\n')), 0));
  return case when result = marked then marked else btrim(result, e'\r\n') end;
end
$$;
comment on function tasklens.visible_text is
  'What a reader of a Markdown or HTML text sees: without comments and hidden elements outside of code, and with a short mark in place of inline data. Of one that hides something, at most 200,000 characters are read, to the last blank line; a rest that holds comments, tags that close or hide, or definitions is […].';

-- White space counts only in <pre>: there it is kept as private-use characters until tags are gone.
create function tasklens.text_of_html(html text) returns text
language plpgsql immutable security invoker set search_path = ''
as $$
declare
  entities constant text := 'amp=& lt=< gt=> quot=" apos='' nbsp=' || chr(160) || ' auml=ä ouml=ö uuml=ü Auml=Ä Ouml=Ö Uuml=Ü szlig=ß agrave=à egrave=è eacute=é ecirc=ê iacute=í oacute=ó uacute=ú aacute=á ntilde=ñ ccedil=ç aring=å Aring=Å oslash=ø Oslash=Ø aelig=æ Eacute=É '
    'ndash=– mdash=— lsquo=‘ rsquo=’ sbquo=‚ ldquo=“ rdquo=” bdquo=„ laquo=« raquo=» hellip=… bull=• middot=· euro=€ pound=£ copy=© reg=® trade=™ deg=° times=× rarr=→ larr=← sect=§ shy= zwnj=';
  attributes constant text := '(?:[^<>"'']|"[^"<]*"|''[^''<]*'')*';
  text text;
begin
  select string_agg(case when p.place = 1 then p.piece
      else '<pre>' || regexp_replace(regexp_replace(regexp_replace(c.part[1], '\r?\n', U&' \E00A', 'g'), '\t', '    ', 'g'), '(?<= ) ', U&'\E020', 'g') || '</pre>' || coalesce(array_to_string(c.part[2:], ' '), '') end, '' order by p.place) into text
  from regexp_split_to_table(html, '<pre\M' || attributes || '>', 'i') with ordinality p(piece, place) cross join lateral regexp_split_to_array(p.piece, '</pre\s*>', 'i') c(part);
  -- In HTML neither ` nor \ shows that tags are code.
  text := tasklens.visible_text(replace(replace(regexp_replace(text, '\s+', ' ', 'g'), '`', '&#96;'), '\', '&#92;'));
  text := regexp_replace(text, '<(?:br|/?(?:p|div|h[1-6]|ul|ol|dl|dt|dd|table|tr|blockquote|pre|hr|section|article|header|footer|address|figure|form))\M' || attributes || '>', e'\n', 'gi');
  text := regexp_replace(regexp_replace(text, '<li\M' || attributes || '>', e'\n- ', 'gi'), '</t[dh]\s*>', ' ', 'gi');
  text := regexp_replace(text, '<[/!?]?[a-z]' || attributes || '>', '', 'gi');
  text := regexp_replace(regexp_replace(text, ' *\n[ \n]*', e'\n', 'g'), U&' ?\E00A', e'\n', 'g');
  return btrim(translate((
    select string_agg(case
      when m[2] is not null then case when m[2]::integer between 1 and 55295 or m[2]::integer between 57344 and 1114111 then chr(m[2]::integer) else '' end
      when m[3] is not null then case when n.code between 1 and 55295 or n.code between 57344 and 1114111 then chr(n.code) else '' end
      when m[4] is not null then coalesce(substring(entities from '(?:^| )' || m[4] || '=([^ ]*)'), m[1])
      else m[1] end, '' order by m.place)
    from regexp_matches(translate(text, U&'\E020', ' '), '(&#0*([0-9]{1,7});|&#[xX]0*([0-9a-fA-F]{1,6});|&([a-zA-Z]+[0-9]*);|[^&]+|&)', 'g') with ordinality m(m, place)
    cross join lateral (select ('x' || lpad(m[3], 8, '0'))::bit(32)::integer as code) n), chr(160), ' '), e' \n');
end
$$;
comment on function tasklens.text_of_html is 'What a reader of HTML sees, as plain text: without tags, a line for each paragraph, entry and row. For views over tables whose texts are HTML.';

create function public.visible_texts(texts text[]) returns text[]
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  if length(array_to_string(texts, '')) > tasklens.text_limit() then
    raise exception 'texts has % characters', length(array_to_string(texts, '')) using errcode = '22023', hint = format('Send at most %s at once.', tasklens.text_limit());
  end if;
  return array(select tasklens.visible_text(t.text) from unnest(visible_texts.texts) with ordinality as t(text, place) order by t.place);
end
$$;
comment on function public.visible_texts is 'What readers see of texts that are not stored, such as drafts, in their order; at most 200,000 characters in all.';

insert into tasklens.migrations (version) values ('20261127000105');
