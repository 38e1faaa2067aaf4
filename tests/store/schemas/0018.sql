BEGIN TRANSACTION;
CREATE TABLE access_tokens (
	id TEXT NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	created_by TEXT NOT NULL, 
	expires FLOAT NOT NULL, 
	last_used FLOAT, 
	revoked FLOAT, 
	PRIMARY KEY (id)
);
INSERT INTO "access_tokens" VALUES('1c313a7b57','daemon','login3','submit','9e469abc8f5572eea5c8505d4f80b2af3b27d3a52d765b660aa30ad08ecd8d7c',1.79600678465615177159e+09,'root',1.79859878465615177149e+09,NULL,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0018');
CREATE TABLE archives (
	name TEXT NOT NULL, 
	folder TEXT NOT NULL, 
	began FLOAT NOT NULL, 
	latest FLOAT NOT NULL, 
	jobs INTEGER NOT NULL, 
	first_job INTEGER, 
	last_job INTEGER, 
	lines_size INTEGER NOT NULL, 
	swf_size INTEGER NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE clusters (
	name TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	version TEXT NOT NULL, 
	seen FLOAT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "clusters" VALUES('delft',16,'simulated',1.79600678130357074738e+09);
INSERT INTO "clusters" VALUES('leiden',8,'simulated',1.79600678130403518676e+09);
CREATE TABLE components (
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	component INTEGER NOT NULL, 
	cluster TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	reserves BOOLEAN NOT NULL, 
	seq INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	step TEXT NOT NULL, 
	reservation BOOLEAN NOT NULL, 
	started BOOLEAN NOT NULL, 
	native_id TEXT, 
	submit_time FLOAT, 
	hosts TEXT NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	cause TEXT, 
	detail TEXT NOT NULL, term BIGINT DEFAULT '0' NOT NULL, planned FLOAT, 
	PRIMARY KEY (job, attempt, component)
);
INSERT INTO "components" VALUES(1,1,0,'delft',2,0,1,'gone','',0,1,'1',1.79600678180403661729e+09,'vm',1.79600678187235593798e+09,1.79600678188435602185e+09,0,NULL,'',100000000008293338,NULL);
INSERT INTO "components" VALUES(2,1,0,'delft',2,0,2,'gone','',0,1,'2',1.79600678246002054211e+09,'vm',1.79600678249733042715e+09,1.79600678250035595889e+09,3,'exit','',100000000005062120,NULL);
INSERT INTO "components" VALUES(3,1,0,'delft',4,1,3,'gone','',1,1,'3',1.79600678288165640835e+09,'vm',1.79600678310835599896e+09,1.79600678312435603142e+09,0,NULL,'',100000000000988769,NULL);
INSERT INTO "components" VALUES(3,1,1,'leiden',4,1,3,'gone','',1,1,'1',1.79600678288686251646e+09,'vm',1.79600678312435603142e+09,1.79600678312435603142e+09,0,NULL,'',100000000000988769,NULL);
INSERT INTO "components" VALUES(5,1,0,'delft',2,0,4,'gone','',0,1,'4',1.79600678383821773533e+09,'vm',1.79600678388435578344e+09,1.79600678390435600281e+09,0,NULL,'',100000000004739704,NULL);
INSERT INTO "components" VALUES(6,1,0,'delft',2,0,5,'started','',0,1,'5',1.79600678503486061096e+09,'vm',1.79600678509235572814e+09,NULL,NULL,NULL,'RUNNING',100000000004448041,NULL);
INSERT INTO "components" VALUES(7,1,0,'delft',4,1,6,'started','',1,1,'6',1.79600678531856894487e+09,'vm',1.79600678547635579109e+09,NULL,NULL,NULL,'RUNNING',100000000005353440,NULL);
INSERT INTO "components" VALUES(7,1,1,'leiden',4,1,6,'started','',1,1,'2',1.79600678533500862123e+09,'vm',1.7960067854803557396e+09,NULL,NULL,NULL,'RUNNING',100000000005353440,NULL);
INSERT INTO "components" VALUES(8,1,0,'delft',2,0,7,'started','',0,1,'7',1.79600678581666421892e+09,'vm',1.79600678585235571859e+09,NULL,NULL,NULL,'RUNNING',100000000006309540,NULL);
INSERT INTO "components" VALUES(9,1,0,'delft',1,0,8,'started','clean',0,1,'8',1.7960067861869802475e+09,'vm',1.79600678621193385123e+09,NULL,NULL,NULL,'RUNNING',100000000004511604,NULL);
CREATE TABLE events (
	id INTEGER NOT NULL, 
	time FLOAT NOT NULL, 
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	what TEXT NOT NULL, 
	detail JSON NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "events" VALUES(1,1.79600678172825217251e+09,1,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(2,1.79600678172825217251e+09,1,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(3,1.79600678172825217251e+09,1,1,'submitting','{}');
INSERT INTO "events" VALUES(4,1.79600678182908153534e+09,1,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "1"}');
INSERT INTO "events" VALUES(5,1.79600678188350772863e+09,1,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(6,1.79600678198712944986e+09,1,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(7,1.79600678198712944986e+09,1,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(8,1.79600678243328666684e+09,2,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(9,1.79600678243328666684e+09,2,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(10,1.79600678243328666684e+09,2,1,'submitting','{}');
INSERT INTO "events" VALUES(11,1.7960067824816610813e+09,2,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "2"}');
INSERT INTO "events" VALUES(12,1.79600678252606463431e+09,2,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(13,1.79600678252606463431e+09,2,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 3}');
INSERT INTO "events" VALUES(14,1.79600678252606463431e+09,2,1,'failed','{"why": "component 0 in delft: its script ended with exit code 3", "exit_code": 3}');
INSERT INTO "events" VALUES(15,1796006782.8377,3,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(16,1796006782.8377,3,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(17,1.79600678284578680991e+09,3,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(18,1.79600678284745812413e+09,3,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(19,1.79600678284745812413e+09,3,1,'submitting','{}');
INSERT INTO "events" VALUES(20,1.79600678292084312438e+09,3,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "1"}');
INSERT INTO "events" VALUES(21,1.79600678293124318128e+09,3,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "3"}');
INSERT INTO "events" VALUES(22,1.79600678293124318128e+09,3,1,'waiting','{}');
INSERT INTO "events" VALUES(23,1.79600678296948242183e+09,3,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(24,1.79600678303954672818e+09,3,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(25,1.79600678308863639836e+09,3,1,'opened','{}');
INSERT INTO "events" VALUES(26,1.79600678311937522885e+09,3,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(27,1.79600678314979743952e+09,3,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(28,1.79600678314979743952e+09,3,1,'ended','{"component": 1, "cluster": "leiden", "exit_code": 0}');
INSERT INTO "events" VALUES(29,1.79600678322008013724e+09,3,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(30,1.79600678322008013724e+09,3,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(31,1.79600678352933979028e+09,4,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(32,1.7960067836130511761e+09,4,0,'cancel','{"by": "root"}');
INSERT INTO "events" VALUES(33,1.7960067836130511761e+09,4,0,'cancelled','{"why": "cancelled by root"}');
INSERT INTO "events" VALUES(34,1.79600678377992057799e+09,5,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(35,1.79600678377992057799e+09,5,1,'placed','{"clusters": ["delft"], "processors": [2], "files_in": 0.0}');
INSERT INTO "events" VALUES(36,1.79600678381904768944e+09,5,1,'files sent','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10}');
INSERT INTO "events" VALUES(37,1.79600678381904768944e+09,5,1,'submitting','{}');
INSERT INTO "events" VALUES(38,1.79600678387928986553e+09,5,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "4"}');
INSERT INTO "events" VALUES(39,1.79600678391582632069e+09,5,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(40,1.79600678391582632069e+09,5,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(41,1.79600678399076604842e+09,5,1,'results back','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10, "folder": "@FOLDER@/metabroker-5.0"}');
INSERT INTO "events" VALUES(42,1.79600678399076604842e+09,5,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(43,1.79600678501274013524e+09,6,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(44,1.79600678501274013524e+09,6,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(45,1.79600678501274013524e+09,6,1,'submitting','{}');
INSERT INTO "events" VALUES(46,1.79600678505491089822e+09,6,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "5"}');
INSERT INTO "events" VALUES(47,1.79600678510703110697e+09,6,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(48,1.79600678528592443464e+09,7,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(49,1.79600678528592443464e+09,7,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(50,1.79600678530314874646e+09,7,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(51,1.79600678530314874646e+09,7,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(52,1.79600678530314874646e+09,7,1,'submitting','{}');
INSERT INTO "events" VALUES(53,1.79600678534132552144e+09,7,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "6"}');
INSERT INTO "events" VALUES(54,1.79600678535109233857e+09,7,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "2"}');
INSERT INTO "events" VALUES(55,1.79600678535109233857e+09,7,1,'waiting','{}');
INSERT INTO "events" VALUES(56,1.79600678539622282984e+09,7,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(57,1.7960067854178619384e+09,7,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(58,1.79600678545541024211e+09,7,1,'opened','{}');
INSERT INTO "events" VALUES(59,1.79600678550695276253e+09,7,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(60,1796006785.51555,7,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(61,1.79600678580561757082e+09,8,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(62,1.79600678580561757082e+09,8,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(63,1.79600678580561757082e+09,8,1,'submitting','{}');
INSERT INTO "events" VALUES(64,1.79600678582658123969e+09,8,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "7"}');
INSERT INTO "events" VALUES(65,1.79600678588503742216e+09,8,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(66,1.79600678617994928359e+09,9,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(67,1.79600678617994928359e+09,9,1,'placed','{"clusters": ["delft"], "processors": [1]}');
INSERT INTO "events" VALUES(68,1.79600678617994928359e+09,9,1,'submitting','{}');
INSERT INTO "events" VALUES(69,1.79600678619069957734e+09,9,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "8"}');
INSERT INTO "events" VALUES(70,1.79600678621483850474e+09,9,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(71,1.79600678650945734982e+09,10,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(72,1.79600678672149682043e+09,11,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(73,1796006786.93622,12,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(74,1.79600678715171074872e+09,13,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(75,1.79600678732327342034e+09,14,0,'submitted','{"user": "root", "hold": false, "dependency": "afterok:3,afterok:9"}');
INSERT INTO "events" VALUES(76,1.79600678892599916456e+09,9,1,'cancel','{"by": "root"}');
CREATE TABLE facts (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "facts" VALUES('instance','2b7446ec');
INSERT INTO "facts" VALUES('key','915b8e7c49ac0aeeb6bc34719476d725');
INSERT INTO "facts" VALUES('batch','6628209a9c21fbfb');
INSERT INTO "facts" VALUES('policy memory','{"clusters": ["delft", "leiden"], "memory": [12, [], []]}');
CREATE TABLE jobs (
	id INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	sizes JSON NOT NULL, 
	clusters JSON, 
	queue TEXT NOT NULL, 
	local TEXT, 
	home TEXT, 
	time_limit INTEGER NOT NULL, 
	submit_time FLOAT NOT NULL, 
	seq INTEGER NOT NULL, 
	queued_at FLOAT NOT NULL, 
	attempt INTEGER NOT NULL, 
	submission_failures INTEGER NOT NULL, 
	completion_failures INTEGER NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	deadline FLOAT, 
	goal TEXT, 
	"by" TEXT NOT NULL, stages_in BOOLEAN DEFAULT 0 NOT NULL, stages_out BOOLEAN DEFAULT 0 NOT NULL, uncertain TEXT, shape JSON, closed JSON, dependency JSON, array JSON, "of" INTEGER, task INTEGER, max_latency FLOAT, inputs JSON, split JSON, joins INTEGER, siblings INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "jobs" VALUES(1,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79600678172825217251e+09,1,1.79600678172825217251e+09,1,0,0,1.79600678187235593798e+09,1.79600678198712944986e+09,0,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(2,'root','job.sh','FAILED','component 0 in delft: its script ended with exit code 3','[2]','null','',NULL,NULL,3600,1.79600678243328666684e+09,2,1.79600678243328666684e+09,1,0,1,1.79600678249733042715e+09,1.79600678252606463431e+09,3,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(3,'root','job.sh','COMPLETED','','[4, 4]','null','',NULL,NULL,3600,1796006782.8377,3,1796006782.8377,1,0,0,1.79600678308863639836e+09,1.79600678322008013724e+09,0,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(4,'root','job.sh','CANCELLED','cancelled by root','[1]','null','',NULL,NULL,3600,1.79600678352933979028e+09,0,0.0,0,0,0,NULL,1.7960067836130511761e+09,NULL,NULL,NULL,'root',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(5,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79600678377992057799e+09,4,1.79600678377992057799e+09,1,0,0,1.79600678388435578344e+09,1.79600678399076604842e+09,0,NULL,NULL,'',1,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"staged": 10, "files": []}',NULL,NULL,0);
INSERT INTO "jobs" VALUES(6,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79600678501274013524e+09,5,1.79600678501274013524e+09,1,0,0,1.79600678509235572814e+09,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(7,'root','job.sh','RUNNING','','[4, 4]','null','',NULL,NULL,3600,1.79600678528592443464e+09,6,1.79600678528592443464e+09,1,0,0,1.79600678545541024211e+09,NULL,NULL,1.7960104154554102421e+09,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(8,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79600678580561757082e+09,7,1.79600678580561757082e+09,1,0,0,1.79600678585235571859e+09,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(9,'root','job.sh','RUNNING','cancelled by root; waits until its clusters have ended it','[1]','null','',NULL,NULL,3600,1.79600678617994928359e+09,8,1.79600678617994928359e+09,1,0,0,1.79600678621193385123e+09,NULL,NULL,NULL,'cancel','root',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(10,'root','job.sh','QUEUED','','[16]','null','',NULL,NULL,3600,1.79600678650945734982e+09,9,1.79600678650945734982e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(11,'root','job.sh','QUEUED','','[8, 8]','null','',NULL,NULL,3600,1.79600678672149682043e+09,10,1.79600678672149682043e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(12,'root','job.sh','QUEUED','','[8]','["leiden"]','','leiden',NULL,3600,1796006786.93622,11,1796006786.93622,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(13,'root','job.sh','HELD','held by root at submission','[2]','null','',NULL,NULL,3600,1.79600678715171074872e+09,0,0.0,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "jobs" VALUES(14,'root','job.sh','QUEUED','','[2]','null','',NULL,NULL,3600,1.79600678732327342034e+09,12,1.79600678732327342034e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL,NULL,'{"on": "afterok:3,afterok:9", "kill": false, "never": ""}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
CREATE TABLE leadership (
	only INTEGER NOT NULL, 
	term BIGINT NOT NULL, 
	holder TEXT NOT NULL, 
	expires FLOAT NOT NULL, claim TEXT DEFAULT '' NOT NULL, seconds FLOAT DEFAULT '0' NOT NULL, renewals BIGINT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (only), 
	UNIQUE (term)
);
CREATE TABLE requests (
	id INTEGER NOT NULL, 
	broker TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	caller JSON NOT NULL, 
	body JSON NOT NULL, 
	expires FLOAT NOT NULL, 
	taken BIGINT, 
	answered BOOLEAN DEFAULT 0 NOT NULL, 
	answer JSON, 
	PRIMARY KEY (id)
);
CREATE TABLE scripts (
	job INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	request_id TEXT, 
	secret TEXT NOT NULL, 
	script BLOB NOT NULL, 
	spec JSON NOT NULL, 
	PRIMARY KEY (job), 
	UNIQUE (user, request_id)
);
INSERT INTO "scripts" VALUES(1,'root','08fab9ea-cc42-45a5-a192-63d7bb202b3b','2.5567e99fa0c9357bbd618ba9',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(2,'root','00f942ac-c58c-4ba8-83ef-bdf3e8fd32aa','2.c064193fb05cf462fd5c213b',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["3", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(3,'root','ae125c44-610b-4192-8afb-dc56a3bb8b05','2.86b013405ff4e93ce9c94b50',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(4,'root','03ff401e-4b03-4438-806c-7f2229958ef3','2.3f3bbf80ed0300ec31b75418',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(5,'root','3beee28d-dbac-47db-9c2f-9dcedb3ee64c','2.63511d954edad8aac5cebfb6',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": ["input"], "stage_out": ["*"], "submit_dir": "@FOLDER@", "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(6,'root','3d43c36e-dac7-489a-9eb6-e7f6a21a34f4','2.7fa2439956183851e3e1fddc',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(7,'root','78868bd0-ef55-4cd2-a048-3ca859ccc63b','2.865b91d337b59579ee5a3991',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(8,'root','once','2.8eb6026cca55068fd28b5b08',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(9,'root','d2ef1432-dae5-40fa-af58-d5293cac9dd1','2.77a4968e906d1f7d45f418e6',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(10,'root','a0af982f-900c-49d2-9e4b-e27a3467b3a1','2.c95f7b7d4f8ee730e4021f47',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(11,'root','37a8a5e4-bf12-42f4-a582-fd709de097f8','2.d21a6e46261e20886a1cd704',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(12,'root','afe40df4-7182-43a7-9030-eba515200e2a','2.712f2dc3b49605414a6c88fd',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(13,'root','d783a8bf-84b9-45f1-9b9b-cc97af26d19c','2.673cad2573ab0f00902edf5d',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
INSERT INTO "scripts" VALUES(14,'root','fdf37c15-32ef-4359-be3a-452c804df513','2.fc9a8d73a3f57780783a90a5',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "asked": [], "speaks": null, "array": null, "input_at": [], "owner": null}');
CREATE INDEX events_by_job ON events (job);
CREATE INDEX access_tokens_by_user ON access_tokens (user);
CREATE INDEX jobs_live ON jobs (state) WHERE state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT');
CREATE INDEX jobs_ended ON jobs (end_time, id, user, state) WHERE state IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT');
CREATE INDEX components_not_gone ON components (cluster) WHERE phase != 'gone' OR step != '';
CREATE INDEX jobs_of_arrays ON jobs ("of", task) WHERE "of" IS NOT NULL;
CREATE INDEX jobs_that_join ON jobs (joins, id) WHERE joins IS NOT NULL;
COMMIT;
